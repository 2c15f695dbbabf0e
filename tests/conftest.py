"""What all tests share: hypothesis judges what code does, not how long a busy machine takes for it."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("pratique", deadline=None, print_blob=True)
settings.load_profile("pratique")
