"""The public names of mvabo."""

import pytest


def test_public_names_resolve_and_wrong_ones_say_so():
    from fivebo import mvabo

    for name in mvabo.__all__:
        assert getattr(mvabo, name).__name__ == name
    with pytest.raises(AttributeError, match="has no name 'MTMVA'"):
        mvabo.MTMVA  # noqa: B018
