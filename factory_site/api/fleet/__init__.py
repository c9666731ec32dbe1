"""Routes that only read: agents and prompts, why a run waits, one worker, the doctor, stored objects."""
