"""Texts that several rooms must agree on to the letter."""

USER_END = "###USER_END###"
"""The user message that ends a learning session."""

ANSWER_TOKEN = "<RULE_ANSWER>"
"""What a simulated user writes where the answer to a standing-rule question belongs."""

DEFLECT_TEXT = "no strong preference there — your call"
"""The answer to a standing-rule question that no rule of the user fits."""

SEND_TO_USER = "send_to_user"
FINISH_SESSION = "finish_session"
CONFIRMATION = "get_user_confirmation"

SEND_ACK = '{"status": "delivered"}'
FINISH_ACK = '{"status": "session_ended"}'

CLEAN_TERMINATIONS = ("agent_stop", "task_complete")
FAULTY_TERMINATIONS = ("error", "error_after_retry", "sim_error")
"""Never written by a current run; a session that ends so is run again on resume."""
