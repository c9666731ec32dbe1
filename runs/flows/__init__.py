"""Durable state machines over one subject: moving them, looking at them, and asking which one drives a subject."""
