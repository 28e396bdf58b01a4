package reason

import (
	"slices"
	"strconv"
	"strings"

	"deployster/config"
	"deployster/internal/base/natural"
	"deployster/internal/base/words"
)

// texts are the words of each code. {0} is a reference, {@0} one that is an address, {claim}
// are all addresses and makes the rest of the text their verb, {and 0} is a reason in And, and
// {it is|they are} differs for several resources. Reasons in And that a text does not name
// follow it.
var texts = map[Code]string{
	NotCreated:     "{claim} does not exist yet",
	ToPublish:      "{claim} will be published",
	ToReplace:      "{claim} will be replaced",
	DependencyGone: "{claim} is gone",
	Unreadable:     "{claim} has no state that could be read",
	Deferred:       "{claim} is deferred",
	ToUpdate:       "{claim} will be updated",
	MayChange:      "{claim} may change",
	QueriedAgain:   "{claim} is queried again",
	Unknown:        "the state of {@0} is not known",

	UnknownValues:   "{unknown 0} known after apply",
	HostUnknown:     "{its|their} host.{0} is made of {rest}, which {unknown 1} known after apply",
	HostLate:        "{its|their} host.{0} is reached as {1} now, which was not known when the plan began",
	MayBeDestroyed:  "{@0} is destroyed first, and may be the same object",
	NoEarlyAnswer:   ", and {its|their} type could not answer before that",
	NoState:         ", so {its|their} state cannot be read",
	Failed:          "{0}",
	EndedWithErrors: "the plan has ended with errors before {its|their} state was read",

	HostUnreachable:  "host.{0} cannot be reached: {1}",
	UnknownInstances: "their number follows from facts of unreachable hosts",
	MachineLost:      "its machine answers under no name",
	MayRun:           "an action may still run there, and its host cannot be queried",
	DependencyLeft:   "it waits for {0}, which was left",
	VersionWaits:     "no listed version of {0} has passed: {1} waits for {2}",

	UnknownKeys:      "{its|their} {0} is made of {rest}, which {unknown 1} known after apply",
	WaitsForDeferred: "{it waits|they wait} for {@0}, which is deferred",
	MayBeInstance:    "{it|they} may be an instance of {@0}, whose keys are not known yet",
	NeverInRound:     "only the next plan may {0} it",

	Leaving:    "{it is|they are} on the way to {0} as {1}",
	Arriving:   "{it is|they are} still in {0}, as {1}",
	NotBetween: ", and that cannot be used now: {0}",
	Went:       "{it was|they were} transferred to {0} as {1}: remove the block here (`deployster state rm` forgets the transfer)",
	Unarrived:  "{it|they} came from {0}, and no block declares {it|them} yet: declare {it|them}, or name {it|them} in a removed block",
	Goes:       "a removed block gives {it|them} to {1} ({0})",
	GoesLater:  "{it stays|they stay} here and {is|are} not given to {0} now: {1}",
	KeptAsGone: "{it was|they were} transferred to {0} as {1}",

	DestroyCommand: "you ran destroy",
	Undeclared:     "{it is|they are} no longer in the configuration",
	AnotherObject:  "{@0} is another object",
	RemovedBlock:   "a removed block names {it|them} ({0})",

	OnlyRecords:     ": what becomes of {it|them} is not for a plan that only records",
	RecordedAnother: "what is recorded here is another object",
	Owned:           "is that of {@0}",
	MayBeOwned:      "may be that of {@0}, which has another env, network or read-only plug",
	ObjectOwned:     "its object {and 0}: it is not destroyed",
	KeptAsOwned:     "it {and 0}",
	KeptByBlock:     ": {it is|they are} not destroyed",
	KeptOutOfReach:  ", and {and 0}: what exists is not destroyed",
	HostNotCreated:  "{it is|they are} on the machine {0}, and {1} is one that is still to be made",
	HostAnother:     "{it is|they are} on the machine {0}, and {1} is the machine {2} now",
	PublishedStays:  ": what was published stays",
	OnRemove:        `its on_remove is "forget"`,
	KeptByOnRemove:  `, and on_remove is "forget": {it is not destroyed|they are not destroyed}`,
	KeptReadOnly:    ", and {it was read_only: it is not destroyed|they were read_only: they are not destroyed}",
	KeptUnremovable: ", and {its type cannot remove objects: it is not destroyed|their type cannot remove objects: they are not " +
		"destroyed}",
	KeptConfined:   ", and {its|their} image may not have the whole machine any more: {0}",
	Unremovable:    "its type cannot remove objects",
	OtherPath:      "it differs in where a plug leads, and only -approve=other-path would remove it for that",
	GoneAlready:    ", and {it is|they are} gone already",
	NothingLeft:    ", and nothing is left of what an apply began to make",
	Unfinished:     "an apply began to make {it|them} and did not finish",
	AlsoUnfinished: "; an apply began to make {it|them} and did not finish",
	Leftover:       "; an apply began to make {it|them} and did not finish, so something of {it|them} may be left",
	LateIdentity:   "{it|they} may be the object of a resource whose identity is known only during apply: the next plan decides",
	LeftForNext:    "what was recorded here is left for the next plan",
	Differs:        "{differences}",
	Asked:          "-replace names {it|them}",
	Triggered:      "{@0} changes (replace_triggered_by)",
	Destructive:    "its image declares that the action {quoted} destroys what exists",

	Purged:       "exclusive.{0} lists {it|them}, and {it is|they are} neither declared nor kept",
	AlsoPurging:  "; an apply began to destroy {it|them} and did not finish",
	SetGone:      "no exclusive block {0} is declared any more: {it is|they are} not destroyed",
	KeptNow:      "{it is|they are} kept now: {and 0}",
	DeclaredNow:  "{it is|they are} declared now",
	HeldBack:     ", and nothing is purged now",
	OnlyPurge:    ": only -approve=purge destroys {it|them}",
	PurgeUnread:  ", and {its|their} state cannot be read: {0}",
	KeptByName:   "keep names {it|them}",
	KeptByState:  "the state {0} (lineage {1}) has declared {it|them}",
	KeptRecorded: "{it is|they are} recorded as {@0}",
	KeptUnread:   "{its|their} state cannot be read: {0}",

	HeldPart:     "the plan covers a part: it has -target, -exclude, or some of the files",
	HeldUnread:   "-refresh=false uses recorded states",
	HeldPending:  "{claim} has instances that are not known yet",
	HeldRunning:  "{claim} has an action that may still run",
	HeldLeftOut:  "{claim} is left out of the plan",
	HeldFailed:   "{claim} has a state that could not be read",
	HeldBetween:  "{claim} is on the way between two states",
	HeldHost:     "{claim} is on a host that is not known yet",
	HeldUnnamed:  "{claim} has an identity that is not known yet",
	HeldLateHost: "the address of host.{0} is not known yet",
	NotListed:    "its type could not list what exists: {0}",
	ListsUnnamed: "its type lists an object whose config does not identify it, or only by a secret",
	NoClaims:     "what other states have declared there cannot be read: {0}",

	IncompleteGone:    "{it does|they do} not exist: nothing is left of what an apply began to make",
	Gone:              "{it is|they are} gone",
	MissingUnrecorded: "{it does|they do} not exist, and nothing is recorded of {it|them}",
	NotPublished:      "{it is|they are} not published",
	DiffersUnrecorded: "{it exists, and differs from its config, and nothing is recorded of it|" +
		"they exist, and differ from their configs, and nothing is recorded of them}",
	DiffersUnfinished: "{it exists, and differs from its config: an apply began to make it and did not finish|" +
		"they exist, and differ from their configs: an apply began to make them and did not finish}",
	FoundBefore:       "{it was|they were} found like this before",
	DiffersFromConfig: "{it differs from its config|they differ from their configs}",

	AutoEdge:           "It waits for {@0}: its type declares it (auto_edges).",
	ProvidedEdge:       "It waits for {@0}, which brings it or what it needs (auto_edges).",
	AutoEdgeCycle:      "It does not wait for {@0}, though its type declares it: that one waits for it.",
	DependantForgotten: "{@0} was recorded as depending on it, and is only forgotten: that is not destroyed, without this.",
	NotChecked:         "Whether {@0} still exists after that is not checked: its image {1} is not here.",
	Undescribed:        "No machine could run the init of {0} yet: its config is neither checked nor shown.",
	DestroyedLater:     "It is made before {0} is destroyed, which it replaces ({and 0}).",
	ForgottenLater:     "It is made before {0} is forgotten, which it replaces ({and 0}).",
	Replaced: "It is another object than what was recorded ({and 0}). The recorded object is not destroyed, and is forgotten: " +
		"{and 1}.",
	NothingRecorded:  "Nothing is recorded of it, and its config is not known yet: -replace has nothing to destroy.",
	NothingToDestroy: "-replace has nothing to destroy: it does not exist.",
	ThroughPath:      "removed through {0}; the plug is {1} today",
	CreatedByType: "It was recorded as created by {0}. If it still exists, it is not destroyed, and is forgotten: to destroy it, " +
		"apply once without this block first.",
	CreatedByConfig: "It was recorded with another config, and with this one its image finds nothing. If what was created with the other " +
		"one still exists, it is not destroyed, and is forgotten.",
	MayStay: "The type declares no identity; the object of the previous config may remain.",
	Guessed: "That it is the object of {0} is guessed from the config: if the type goes by name, that of {0} stays.",
	TwoApplies: "What identifies it becomes known only during apply. If it is another object, two applies are needed: this one " +
		"stops there and keeps the recorded object, and the next one replaces it.",
	TwoAppliesFirst: "What identifies it becomes known only during apply. If it is another object, two applies are needed: this one " +
		"stops there and keeps the recorded object, and the next one creates the new object first.",
	Notified:          "Will be refreshed: {claim} has changed or will change.",
	SecretRotated:     "secret rotated: {0}",
	SecretKept:        "The value of {0} may be another one than it was given last. Its type was notified, and answered VALID.",
	SecretUntold:      "The value of {0} may be another one than it was given last, and its type cannot be notified: it lacks \"refresh\".",
	ApprovedAsReplace: "It is approved as a replacement: {and 0}.",
}

// Words returns a reason in words; "" = there is none.
func (r *Reason) Words() string { return r.words(false) }

// OfMany returns a reason of several resources in words.
func (r *Reason) OfMany() string { return r.words(true) }

// Lines returns a line for each of these reasons, with the first most addresses that have it.
func Lines(of map[string]*Reason, most int) []string { return words.Reasons(WordsOf(of), most) }

// WordsOf returns reasons by address in words.
func WordsOf(of map[string]*Reason) map[string]string {
	all := make(map[string]string, len(of))
	for addr, r := range of {
		all[addr] = r.Words()
	}
	return all
}

// Words returns reasons in words.
func Words(list []*Reason) (all []string) {
	for _, r := range list {
		all = append(all, r.Words())
	}
	return all
}

func (r *Reason) words(many bool) string {
	if r == nil {
		return ""
	}
	text, ok := texts[r.Code]
	if !ok {
		return string(r.Code)
	}
	var b strings.Builder
	named := 0
	if before, claim, is := strings.Cut(text, "{claim} "); is {
		b.WriteString(before + words.Claim(addresses(r.Refs), claim))
		text = ""
	}
	for text != "" {
		before, rest, more := strings.Cut(text, "{")
		b.WriteString(before)
		if !more {
			break
		}
		token, after, _ := strings.Cut(rest, "}")
		if at, is := strings.CutPrefix(token, "and "); is {
			named++
			b.WriteString(pick(r.And, at).words(many))
		} else {
			b.WriteString(r.token(token, many))
		}
		text = after
	}
	for _, other := range r.And[min(named, len(r.And)):] {
		b.WriteString(other.words(many))
	}
	return b.String()
}

// token returns what stands for a token of a text.
func (r *Reason) token(token string, many bool) string {
	if one, several, differs := strings.Cut(token, "|"); differs {
		if many {
			return several
		}
		return one
	}
	switch name, at, _ := strings.Cut(token, " "); name {
	case "rest":
		return words.List(r.Refs[min(1, len(r.Refs)):], 3)
	case "quoted":
		return strconv.Quote(pick(r.Refs, "0"))
	case "differences":
		return differences(r.Refs)
	case "unknown": // the verb after references, and the references where they come first
		return unknown(r.Refs, at)
	}
	if at, is := strings.CutPrefix(token, "@"); is {
		return config.Reference(pick(r.Refs, at))
	}
	return pick(r.Refs, token)
}

// unknown returns "a is" or "a, b are"; after the first reference only the verb.
func unknown(refs []string, from string) string {
	if from == "1" {
		if len(refs) > 2 {
			return "are"
		}
		return "is"
	}
	refs = slices.Compact(slices.SortedFunc(slices.Values(refs), natural.Compare))
	verb := " is"
	if len(refs) > 1 || len(refs) == 1 && strings.Contains(refs[0], ", ") { // one value of several references
		verb = " are"
	}
	return words.List(refs, 3) + verb
}

// differences returns "what from -> to" for each three references.
func differences(refs []string) string {
	var all []string
	for d := range slices.Chunk(refs, 3) {
		if len(d) == 3 {
			all = append(all, d[0]+" "+d[1]+" -> "+d[2])
		}
	}
	return strings.Join(all, ", ")
}

func addresses(refs []string) []string {
	out := make([]string, len(refs))
	for i, addr := range refs {
		out[i] = config.Reference(addr)
	}
	return out
}

// pick returns an element of a list, or nothing where a damaged file has too few.
func pick[T any](list []T, at string) (none T) {
	if i, err := strconv.Atoi(at); err == nil && i >= 0 && i < len(list) {
		return list[i]
	}
	return none
}
