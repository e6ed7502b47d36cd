"""GRPO with TRL, from the supervised start: a reward of 1 for a right answer, 0 for a wrong one."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from gridatlas_reproduce.digits.model import load_model, new_tokenizer
from gridatlas_reproduce.digits.problems import Problem, ended


@dataclass(frozen=True, slots=True)
class Grpo:
    """How a model is trained on; the names are those of TRL's `GRPOConfig`.

    Attributes:
        max_steps: Optimizer steps.
        prompts: Different problems per step.
        num_generations: Answers per problem.
        learning_rate: Constant.
        save_steps: Steps between two checkpoints.
    """

    max_steps: int = 600
    prompts: int = 32
    num_generations: int = 8
    learning_rate: float = 2e-4
    save_steps: int = 100


def rewards(completions: list[str], answer: list[str], **_: object) -> list[float]:
    """1 for the right answer, ended; else 0."""
    return [
        float(ended(completion)[0] == right)
        for completion, right in zip(completions, answer, strict=True)
    ]


def train_on(
    start: Path,
    how: Grpo,
    temperature: float,
    problems: Iterator[Problem],
    seed: int,
    longest: int,
    folder: Path,
    device: str,
    step_done: Callable[[int], None] = lambda done: None,
    tokenizer: Any = None,
    vllm: bool = False,
) -> Any:
    """Train the model in `start` on; a run that was stopped goes on from its last checkpoint.

    Args:
        temperature: Of the rollouts; TRL also divides the logits of the loss by it.
        problems: Without end; none that is held out.
        longest: Characters of an answer, with its end.
        folder: For checkpoints.
        step_done: Called with the number of steps done.
        tokenizer: The model's; of characters where none is given.
        vllm: Whether vLLM samples the rollouts, on the GPU that trains in bfloat16.
    """
    from datasets import Dataset
    from transformers import PrinterCallback, TrainerCallback
    from trl import GRPOConfig, GRPOTrainer

    class Steps(TrainerCallback):
        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            step_done(state.global_step)

    chosen = islice(problems, how.max_steps * how.prompts)
    rows = [{"prompt": problem.prompt, "answer": problem.answer} for problem in chosen]
    config = GRPOConfig(
        output_dir=str(folder),
        max_steps=how.max_steps,
        per_device_train_batch_size=how.prompts * how.num_generations,
        num_generations=how.num_generations,
        max_completion_length=longest,
        learning_rate=how.learning_rate,
        lr_scheduler_type="constant",
        temperature=temperature,
        top_p=1.0,
        top_k=0,
        beta=0.0,
        loss_type="dapo",
        scale_rewards="group",
        steps_per_generation=1,
        gradient_checkpointing=vllm,
        bf16=vllm,
        use_vllm=vllm,
        use_cpu=device == "cpu",
        seed=seed,
        data_seed=seed,
        shuffle_dataset=False,
        save_steps=how.save_steps,
        save_total_limit=1,
        logging_strategy="no",
        report_to=[],
        disable_tqdm=True,
    )
    trainer = GRPOTrainer(
        model=load_model(start),
        reward_funcs=rewards,
        args=config,
        train_dataset=Dataset.from_list(rows),
        processing_class=tokenizer or new_tokenizer(),
        callbacks=[Steps()],
    )
    trainer.remove_callback(PrinterCallback)  # prints its last figures among ours
    last = last_checkpoint(folder)
    trainer.train(resume_from_checkpoint=str(last) if last else None)
    return trainer.model.eval()


def last_checkpoint(folder: Path) -> Path | None:
    """The last checkpoint that is whole; what a killed process left half-written is removed."""
    whole = {}
    for checkpoint in folder.glob("checkpoint-*"):
        try:
            # It is written after all else.
            state = json.loads((checkpoint / "trainer_state.json").read_bytes())
            whole[int(state["global_step"])] = checkpoint
        except (OSError, ValueError, KeyError, TypeError):
            shutil.rmtree(checkpoint, ignore_errors=True)
    return whole[max(whole)] if whole else None
