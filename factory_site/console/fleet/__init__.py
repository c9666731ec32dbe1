"""Pages of the machine: runs, workers, agents and their prompts, and the doctor."""
