"""The loop of every app: take a batch, decide, send, mark. No Faust."""
