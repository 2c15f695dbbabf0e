"""What is fuzzed, on examples."""
