from besvm._support.units import show_seconds


def test_durations_as_people_read_them():
    assert [show_seconds(n) for n in (42, 300, 7500)] == ["42 s", "5 min", "2 h 05 min"]
