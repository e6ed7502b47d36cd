#!/bin/bash
# A grid as a job array of Slurm: each task does its share of the questions, all in one run.
# Give as many tasks as you have GPUs, and a folder that all machines share:
#
#   sbatch --array=1-8 docs/reproduce/slurm.sh --model r1-qwen --benchmark aime24 --out runs/r1-qwen-aime24
#
# A task that is stopped may be started again: it resumes.
#SBATCH --job-name=kv-sweep
#SBATCH --gpus=1
#SBATCH --cpus-per-task=4
#SBATCH --mem=48G
#SBATCH --time=12:00:00
#SBATCH --requeue
#SBATCH --output=%x-%A_%a.log
set -euo pipefail
. .venv/bin/activate
part=$((SLURM_ARRAY_TASK_ID - SLURM_ARRAY_TASK_MIN + 1))
exec python docs/reproduce/kv_sweep.py --shard "$part/$SLURM_ARRAY_TASK_COUNT" "$@"
