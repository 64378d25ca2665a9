"""Sending a change, and what is on record of it. Who answers what:

May it be sent?            ``door.MutationActivities.change``, the one activity that sends: it asks people's
                           signatures (``proof.authority``), the area (``area_work``) and, before a request,
                           ``fence.Fence``: permit, time, intent. ``not_sent.NotSent`` says why not
Under which permit?        ``permits.is_named``, and of whose targets, ``SignedTargets``
How long may it take?      ``step_time.StepTime``; ``calling_off.unless_called_off`` ends it sooner
What came of a request?    ``judging.judged``, of one that failed; ``intents.close_intent`` records it
Was it sent?               ``intents.give_up``, ``fix_permit``: it is not and will not be, or may have been
What is on record?         ``intent_records.intents_of``: the intents that count, by ``is_change`` and
                           ``latest_first``; ``closed_as``, ``is_seen``, ``is_effective``: how one has ended
Whose is it?               ``own.own_of``: what is this campaign's; ``found.whose_is``: what was found changed
May it still show?         ``intents.on_the_wire_until``, ``commit_may_show``; ``terms.terms_of``: how long
Is it in force?            ``in_force.may_be_in_force``: any commit of a campaign;
                           ``own_changes.last_change``: the last of the target, where it is the campaign's
Has it settled?            ``settled.settled_change``; ``sign_settled`` signs it, ``unless_settled`` keeps it
Is any left to undo?       ``rollbacks.is_over``, ``settled_before``
What of earlier attempts?  ``earlier.earlier_of``: whether they have used what people signed;
                           ``intents.taken_up``: what they have begun, and nobody has seen through
What of others beside it?  ``beside.others_of``

The loops over intents look alike, and differ on purpose in what they forgive: a record that is damaged, or
whose worker's key was revoked since, may hold up a commit, and must hold up no rollback.
"""
