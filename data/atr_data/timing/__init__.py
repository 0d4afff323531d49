"""The timing track's records: streams of work, the gold beside them, and logs of decisions."""

from atr_data.timing.decisions import Assist, Decision, SittingLog
from atr_data.timing.events import Sitting, Stream, StreamHeader, WorkEvent
from atr_data.timing.faults import TimingError
from atr_data.timing.gold import Gold, GoldHeader, Habit, Need, Scene
from atr_data.timing.intents import INTENTS, Intent, slot_keys
from atr_data.timing.stream_file import check_gold, load_gold, load_stream, save_gold, save_stream

__all__ = [
    "INTENTS",
    "Assist",
    "Decision",
    "Gold",
    "GoldHeader",
    "Habit",
    "Intent",
    "Need",
    "Scene",
    "Sitting",
    "SittingLog",
    "Stream",
    "StreamHeader",
    "TimingError",
    "WorkEvent",
    "check_gold",
    "load_gold",
    "load_stream",
    "save_gold",
    "save_stream",
    "slot_keys",
]
