"""What a study is: its form, its parts, its problems and addresses. Imports nothing of ours."""
