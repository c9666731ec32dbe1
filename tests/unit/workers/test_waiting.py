from workers.wire.waiting import Waiting


def test_a_request_beyond_the_slots_is_told_so_and_a_freed_slot_is_used_again():
    waiting = Waiting(lambda: 2)
    with waiting.place("a") as first, waiting.place("b"):
        assert first is not None
        with waiting.place("c") as third:
            assert third is None
        assert waiting.count() == 2
    with waiting.place("c") as third:
        assert third is not None
        assert not third.is_set()


def test_a_newer_request_ends_the_wait_of_its_own_key_alone():
    waiting = Waiting(lambda: 9)
    with waiting.place("a") as older, waiting.place("b") as other:
        waiting.displace("a")
        assert older is not None
        assert older.is_set()
        assert other is not None
        assert not other.is_set()


def test_a_shutdown_ends_every_wait_and_lets_none_begin():
    waiting = Waiting(lambda: 9)
    with waiting.place("a") as held:
        waiting.stop_all()
        assert held is not None
        assert held.is_set()
        assert waiting.stopping
        with waiting.place("b") as late:
            assert late is not None
            assert late.is_set()
    waiting.open_again()
    with waiting.place("c") as held:
        assert held is not None
        assert not held.is_set()
