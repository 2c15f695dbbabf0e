"""What the use cases need from outside, one port a module; adapters implement them, bootstrap binds them."""
