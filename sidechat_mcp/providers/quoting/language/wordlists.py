"""Lists of little words. General ones only: no word is here because of any one conversation."""

from __future__ import annotations


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


STOP = _set(
    """a about across after again against all along also am among an and any anybody anyone
    anything are aren around as ask asked at be because been before behind being besides
    between both but by came can cannot come could couldn d despite did didn do does doesn
    doing don done each either else end ended ever every everybody everyone far few for from
    get gets getting give given go goes going gone good got had hadn has hasn have haven having
    he her here hers him his how i if in into is isn it its itself just kind know let like ll
    long m made make makes making many may me might mine much must my need needed needs no nor
    not now of off oh ok okay on one ones only onto or other our ours out over own per please
    put quite rather re really remember s said same say says see shall she should shouldn so
    some somebody someone something still such supposed sure t take taken takes tell than thank
    thanks that the their theirs them then there these they thing things think this those
    though through to too toward towards under until up upon us use used uses using ve very via
    want wanted wants was wasn way we well went were weren what whatever when where whether
    which while who whoever whom whose why will with within without won would wouldn yes yet
    you your yours"""
)
"""English words that say nothing of what a text is about."""

ASKING = _set(
    """happen happens happened exactly currently actually again maybe called named name mean means
    since question answer discuss discussed mention mentioned talk talked conversation detail
    details briefly explain summarise summarize remind side earlier before far plan way"""
)
"""Words that ask rather than tell what is asked about."""

LIGHT = _set(
    """time times day days date dates month months week weeks year years percent percentage number
    amount total start starts begin begins run runs work works place arrange arranged decide
    decided decision choose chosen chose pick picked final finally current order prevent
    prevents reason reasons exact wrong problem issue matter status situation story deal idea
    cause causes caused purpose difference cost costs pay pays charge charges earn earns owe
    owes spend find found afterwards later already soon supposed lately nowadays today new
    people person allowed reject rejected drop dropped refuse refused abandon abandoned avoid
    avoided dismiss dismissed prefer preferred opt opted file files script scripts module
    modules possible advise advised advice recommend recommended suggest suggested propose proposed
    agree agreed settle settled conclude concluded whole entire total overall together altogether
    big small large main end eventually instead gave common none nothing more
    less most least"""
)
"""Words that shape a question as much as they say what it is about; they count for less, and not
at all where the history never uses them."""

LATEST_WORDS = _set(
    "now currently current final finally eventually latest nowadays actual end today"
)
"""Words of a question that ask for how things stand at the end of a conversation."""

OPEN_WORDS = _set(
    """open remaining outstanding pending undecided unresolved unsettled todo still settled
    decided clarified waiting next must"""
)
"""Words that are looked for when a question asks what is open."""

OPEN_FILL = _set("task item thing question point issue end side part step team list")
"""Words that such a question is filled up with."""

PERSONS = _set(
    """mother father mum mom dad sister brother nephew niece uncle aunt cousin husband wife partner
    son daughter grandmother grandfather friend neighbour neighbor colleague boss chief manager
    lawyer solicitor accountant notary architect engineer developer designer tester electrician
    plumber carpenter painter gardener doctor nurse dentist teacher professor landlord tenant agent
    vendor supplier contractor secretary treasurer chairman conductor driver intern assistant"""
)
"""What people are called who are not called by their names."""

NODS = _set(
    "agreed agree done okay yes fine good great right sure thanks perfect nice understood exactly"
    " ugh hm hmm wow oops"
)
"""Words of assent that carry nothing else."""

UNITS = _set(
    """second seconds minute minutes hour hours day days week weeks month months year years
    percent time times ms euro euros dollar dollars kb mb gb row rows file files first last
    next new old way people person number"""
)
"""Words that measure things; sharing one makes no two sentences speak of the same."""

FOREIGN = {
    "de": _set(
        """der die das den dem des ein eine einen einem einer und oder aber nicht kein keine ist
        sind war waren hat haben hatte wird werden wurde wurden kann können soll sollen muss
        müssen wie was wer wen wem wo wann warum weshalb wieso welche welcher welches welchen
        wir ich du er sie es ihr uns mich mir man im in am an auf aus bei bis für mit nach von
        vom vor zu zum zur über unter um als auch noch nur so dann wenn dass ob doch denn
        wieviel viele viel lange gibt"""
    ),
    "fr": _set(
        """le la les un une des du de et ou mais ne pas est sont était étaient a ont avait sera
        être avoir peut faut que qui quoi quel quelle quels quelles quand où comment pourquoi
        combien nous je tu il elle ils elles on vous me se ce cette ces son sa ses leur leurs
        notre nos votre dans en sur sous pour par avec sans à au aux d l s c n qu y plus aussi
        si"""
    ),
    "es": _set(
        """el la los las un una unos unas y o pero no es son era eran ha han había será está están
        ser haber puede que quién qué cuál cuáles cuándo dónde cómo por para con sin de del al
        en sobre se su sus lo le les nos me te yo tú él ella ellos nosotros cuánto cuánta
        cuántos cuántas este esta estos estas más también si porque hay fue"""
    ),
    "it": _set(
        """il lo la i gli le un uno una e o ma non è sono era erano ha hanno aveva sarà essere può
        che chi cosa quale quali quando dove come perché quanto quanta quanti quante noi io tu
        lui lei loro di del della dei delle da dal in nel nella su sul per con senza a al alla
        si ci questo questa questi più anche se c"""
    ),
    "pt": _set(
        """o a os as um uma uns umas e ou mas não é são era eram foi tem têm tinha será está estão
        ser pode que quem qual quais quando onde como porque por quanto quanta quantos quantas
        nós eu tu ele ela eles elas de do da dos das em no na nos nas para com sem ao à se este
        esta isso mais também há"""
    ),
    "nl": _set(
        """de het een en of maar niet geen is zijn was waren heeft hebben had wordt worden werd
        kan kunnen moet moeten wat wie waar wanneer waarom hoe welke welk wij we ik jij je hij
        zij ze u in op aan bij met naar van voor uit over onder tot te als ook nog dan dat die
        dit deze er hoeveel lang om door"""
    ),
    "sv": _set(
        """en ett den det de och eller men inte är var har hade blir blev kan ska skall måste vad
        vem var när varför hur vilken vilket vilka vi jag du han hon ni i på av för med från
        till om under över som att så också än där här hur många mycket länge"""
    ),
    "ru": _set(
        """и или но не нет это этот эта эти есть был была было были будет что кто где когда почему
        зачем как какой какая какое какие сколько мы я ты он она они вы в во на с со по для от
        до из к о об у за над под при же бы ли так то его её их нас нам"""
    ),
}
"""The same for other languages, for questions that are asked in them."""


def is_stop(word: str) -> bool:
    return word.lower() in STOP


def little_words(words: list[str]) -> frozenset[str]:
    """The stop words of the language that `words` are most likely in."""
    lowered = [word.lower() for word in words]
    best, most = STOP, sum(word in STOP for word in lowered)
    for little in FOREIGN.values():
        hits = sum(word in little for word in lowered)
        if hits > most:
            best, most = little, hits
    return best
