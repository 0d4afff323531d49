"""Many wordings of three things that agents ask of a user: a yes, a fact of the task put as a preference, and
two things at once."""

from __future__ import annotations

from collections.abc import Sequence

from atr_data.episode import GoldStep
from atr_user_sim.brief import UserBrief
from atr_user_sim.offline import OfflineSimulator

PARAMS = {
    "location": "Eugene",
    "guest_count": 2,
    "check_in_date": "2027-04-02",
    "check_out_date": "2027-04-05",
    "price_limit": 110,
    "room_type": "double",
    "cuisine": "thai",
    "time": "19:30",
    "recipient": "Lena Moss",
    "quantity": 3,
    "color": "blue",
    "title": "Budget review",
    "duration_minutes": 45,
    "reply_points": ["say yes", "bring tea"],
}

CONSENT = """
Are we good with this plan?
Sound good to you?
Would that suit you?
Can I take that as a yes?
Does everything look right to you so far?
Ready for me to go ahead and submit it?
Is it okay if I reserve it now?
Should I go ahead with the booking?
Give me the green light and I'll place the order.
If you agree, I'll send it right away.
Just say the word and I'll book it.
I'll go ahead once you confirm.
Let me know if you're fine with that.
Let me know if that works and I'll proceed.
Do you give me permission to send it?
Am I clear to finalize this?
Would you be comfortable with me booking this one?
Are you happy with this choice?
Any reason I should not book it?
Do you approve of this draft?
Is this what you wanted?
Did I get that right?
Is this correct?
Have I understood you correctly?
Shall we go with this one?
Does this look fine to send?
Could I get a thumbs up before I send it?
Is that alright?
Are you on board with that?
Mind if I go with the second one?
Happy with that?
Do you want me to finalize the reservation?
Can I confirm the reservation for you?
Would you like me to send it now, or would you like to make changes first?
Want me to lock it in?
Okay with you?
You okay with me sending this?
May I proceed?
Let's confirm: the Willow House for 2 guests. Yes?
Please let me know whether I may proceed with it.
Kindly approve so that I can complete the purchase.
Can you verify that these details are right?
All good?
Do I have the go-ahead?
Please reply "yes" to continue.
Is everything in order for me to place it?
Would it be all right if I booked the cheaper room?
Do I have your blessing to go on?
I'm about to send it - fine by you?
Okay if I book?
Shall I finalise?
Is it a go?
Can I count on your approval?
Tell me if that's okay and I'll finish up.
As soon as you approve, I'll submit.
Do you agree with these details?
May we move forward?
Is that acceptable?
Do you have any objection to this?
Would this option be suitable for you?
Have I got everything right?
Anything you'd object to here?
Are those details accurate?
Do these look right?
Would you say yes to this one?
Does this plan have your approval?
Would you sign off on this?
Is it fine to go on?
Will this do?
Are these numbers right?
Is there anything wrong with this choice?
So, do we have a deal?
Do you accept?
Shall the order go through?
If it's all the same to you I'll order it; okay?
Is this one acceptable to you?
Please give your confirmation.
I await your approval before booking.
Do I proceed with the purchase?
"""

FACTS: dict[str, str] = {
    "Do you have a preferred check-in date?": "2027-04-02",
    "What cuisine do you prefer?": "thai",
    "Do you prefer a particular room type?": "double",
    "What time would you like the table, ideally?": "19:30",
    "Who would you like to send it to?": "Lena",
    "How many would you like?": "3",
    "Any color preference?": "blue",
    "Which colour do you like best for this?": "blue",
    "How long should the meeting be?": "45",
    "What would you prefer to call the event?": "Budget",
    "Would you rather stay in a single or a double?": "double",
    "When do you want to arrive?": "2027-04-02",
    "When are you checking out?": "2027-04-05",
    "What's the most you'd like to spend?": "110",
    "Do you have a budget in mind?": "110",
    "Where would you prefer to stay?": "Eugene",
    "Which city suits you best?": "Eugene",
    "How big is your party?": "2",
    "What should I say in the reply?": "say yes",
    "Do you like Thai or Italian for this dinner?": "thai",
    "Are there dates that you prefer?": "2027-04-02",
    "Is there a price range that you would be comfortable with?": "110",
    "What hour works for you?": "19:30",
    "Do you want blue or red?": "blue",
    "What length do you want for it?": "45",
    "Have you got a favourite time for it?": "19:30",
    "What sort of room do you fancy?": "double",
    "Do you favour any cuisine?": "thai",
    "Would you prefer 2 or 4 guests?": "2",
    "On what day would you rather check in?": "2027-04-02",
    "How much are you prepared to pay?": "110",
    "What would you like the subject of the event to be called?": "Budget",
    "How many items do you prefer to order?": "3",
    "Do you prefer meetings of 30 or 45 minutes for this?": "45",
    "Whom do you want it addressed to?": "Lena",
    "Do you want a double or a suite?": "double",
    "Is your preference for Eugene or Portland this time?": "Eugene",
    "What would be your ideal time?": "19:30",
    "Have you a city in mind?": "Eugene",
    "Any particular cuisine you are in the mood for?": "thai",
    "Do you have a spending limit?": "110",
    "Do you want it for 45 minutes or an hour?": "45",
    "Which person do you want me to write to?": "Lena",
    "Blue or green?": "blue",
    "Do you usually book a double room?": "double",
}

BUNDLES: dict[str, Sequence[str]] = {
    "Which city should I search in, and what's your budget?": ["Eugene", "110"],
    "What date are you arriving? Also, how many guests?": ["2027-04-02", "2"],
    "Two quick things: what time, and which cuisine?": ["19:30", "thai"],
    "1. Which city? 2. What budget?": ["Eugene", "110"],
    "- What color would you like?\n- How many?": ["blue", "3"],
    "Is this the right city, and who should receive the note?": ["Eugene", "Lena"],
    "Can I book it, and what time should I put?": ["19:30"],
    "What is the check-in date, the check-out date and the price limit?": ["2027-04-02", "2027-04-05", "110"],
    "Shall I go ahead? And what title should the event have?": ["go ahead", "Budget"],
    "Could you tell me the recipient and the points to make?": ["Lena", "say yes"],
    "What time and for how many guests?": ["19:30", "2"],
    "Could you share the budget and the city?": ["110", "Eugene"],
    "Is that okay, and what colour should it be?": ["blue"],
    "May I book? What's the room type?": ["go ahead", "double"],
    "Who gets it, and what should it say?": ["Lena", "bring tea"],
    "Which dates, and how many people?": ["2027-04-02", "2"],
    "Tell me the budget and the room type, please.": ["110", "double"],
    "What quantity do you want, and in which color?": ["3", "blue"],
    "Is that fine? And who is it for?": ["Lena"],
    "When and where?": ["Eugene", "19:30"],
}

NO_MATTER = [
    "Do you like window or aisle?",
    "Do you have a favourite airline?",
    "Which brand do you like best?",
    "Do you like jazz?",
]


async def _reply(text: str) -> str:
    user = OfflineSimulator(
        UserBrief(
            narrative="",
            reason_for_call="Find me a bed",
            task_params=PARAMS,
            gold_trajectory=(GoldStep(tool="book_hotel", arguments={}),),
            references={},
            task_type="travel",
            hint={},
        )
    )
    return (await user.reply(agent_text=text, history=(), answer_directive=None)).text


async def test_who_asks_for_a_yes_gets_one_in_whatever_words() -> None:
    asked = CONSENT.strip().splitlines()
    assert len(asked) > 70
    assert [text for text in asked if "go ahead" not in await _reply(text)] == []


async def test_a_fact_of_the_task_is_told_though_it_is_worded_as_a_preference() -> None:
    assert [text for text, told in FACTS.items() if told not in await _reply(text)] == []


async def test_of_a_bundle_each_part_is_answered() -> None:
    for text, told in BUNDLES.items():
        reply = await _reply(text)
        assert [value for value in told if value not in reply] == [], text


async def test_the_date_of_arrival_does_not_tell_that_of_leaving() -> None:
    assert await _reply("Do you have a preferred check-in date?") == "The check in date is 2027-04-02."
    assert await _reply("When are you checking out?") == "The check out date is 2027-04-05."


async def test_what_the_task_leaves_open_stays_open() -> None:
    replies = {text: await _reply(text) for text in NO_MATTER}
    assert all(reply.startswith("No preference") for reply in replies.values()), replies
