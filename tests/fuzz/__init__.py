"""Fuzzing of what reads strangers' texts: what holds for every input, told once for atheris and for hypothesis."""
