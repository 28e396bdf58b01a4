package reason

// What a resource depends on.
const (
	NotCreated     Code = "dependency_not_created"
	ToPublish      Code = "dependency_published"
	ToReplace      Code = "dependency_replaced"
	DependencyGone Code = "dependency_gone"
	Unreadable     Code = "dependency_unreadable"
	Deferred       Code = "dependency_deferred"
	ToUpdate       Code = "dependency_updated"
	MayChange      Code = "dependency_may_change"
	QueriedAgain   Code = "dependency_queried_again"
	Unknown        Code = "dependency_unknown"

	UnknownValues   Code = "unknown_values" // what makes values of the config unknown
	HostUnknown     Code = "host_unknown"   // a host, and what makes it unknown
	HostLate        Code = "host_late"      // a host, and its address
	MayBeDestroyed  Code = "may_be_destroyed"
	NoEarlyAnswer   Code = "no_early_answer"
	NoState         Code = "no_state"
	Failed          Code = "error" // the summary of the error
	EndedWithErrors Code = "ended_with_errors"
)

// Why a resource is left out because of an unreachable host.
const (
	HostUnreachable  Code = "host_unreachable" // a host, the error
	UnknownInstances Code = "instances_unknown"
	MachineLost      Code = "machine_lost"
	MayRun           Code = "may_run"
	DependencyLeft   Code = "dependency_left" // the address
	VersionWaits     Code = "version_waits"   // the artifact, its newest version, the addresses that this has not passed
)

// Why something is left to a later round of an apply.
const (
	UnknownKeys      Code = "keys_unknown"       // the attribute, what makes it unknown
	WaitsForDeferred Code = "waits_for_deferred" // the address
	MayBeInstance    Code = "may_be_instance"    // of the address
	NeverInRound     Code = "never_in_round"     // what would be done
)

// What becomes of a resource between two states.
const (
	Leaving    Code = "leaving"      // to the state, as the address there
	Arriving   Code = "arriving"     // from the state, from the address there
	Went       Code = "went"         // to the state, as the address there
	NotBetween Code = "not_between"  // why the other state cannot be used
	Unarrived  Code = "unarrived"    // from the state
	Goes       Code = "goes"         // file:line, to the state
	GoesLater  Code = "goes_later"   // to the state, why not now
	KeptAsGone Code = "kept_as_gone" // to the state, as the address there
)

// Why something ends, or stays.
const (
	DestroyCommand Code = "destroy_command"
	Undeclared     Code = "undeclared"
	AnotherObject  Code = "another_object" // of the address
	RemovedBlock   Code = "removed_block"  // file:line

	OnlyRecords     Code = "only_records"
	RecordedAnother Code = "recorded_another"
	Owned           Code = "owned"        // by the address
	MayBeOwned      Code = "may_be_owned" // by the address
	ObjectOwned     Code = "object_owned"
	KeptAsOwned     Code = "kept_as_owned"
	KeptByBlock     Code = "kept_by_block"
	KeptOutOfReach  Code = "kept_out_of_reach"
	HostNotCreated  Code = "host_not_created" // machine, host
	HostAnother     Code = "host_another"     // machine, host, machine now
	PublishedStays  Code = "published_stays"
	OnRemove        Code = "on_remove_forget"
	KeptByOnRemove  Code = "kept_by_on_remove"
	KeptReadOnly    Code = "kept_read_only"
	KeptUnremovable Code = "kept_unremovable"
	KeptConfined    Code = "kept_confined" // why
	Unremovable     Code = "unremovable"
	OtherPath       Code = "other_path"
	GoneAlready     Code = "gone_already"
	NothingLeft     Code = "nothing_left"
	Unfinished      Code = "unfinished"
	AlsoUnfinished  Code = "also_unfinished"
	Leftover        Code = "leftover"
	LateIdentity    Code = "late_identity"
	LeftForNext     Code = "left_for_next"
	Differs         Code = "differs" // in each: what, from, to
	Asked           Code = "asked"
	Triggered       Code = "triggered"   // by the address
	Destructive     Code = "destructive" // the action
)

// What becomes of the objects of an exclusive set.
const (
	Purged       Code = "purged" // the set
	AlsoPurging  Code = "also_purging"
	SetGone      Code = "set_gone" // the set
	KeptNow      Code = "kept_now"
	DeclaredNow  Code = "declared_now"
	HeldBack     Code = "held_back"
	OnlyPurge    Code = "only_purge"
	PurgeUnread  Code = "purge_unread" // the error
	KeptByName   Code = "kept_by_name"
	KeptByState  Code = "kept_by_state" // the place of the state, its lineage
	KeptRecorded Code = "kept_recorded" // the address
	KeptUnread   Code = "kept_unread"   // the error
)

// Why an exclusive set destroys nothing.
const (
	HeldPart     Code = "held_part"
	HeldUnread   Code = "held_unread"
	HeldPending  Code = "held_pending"   // the addresses
	HeldRunning  Code = "held_running"   // the addresses
	HeldLeftOut  Code = "held_left_out"  // the addresses
	HeldFailed   Code = "held_failed"    // the addresses
	HeldBetween  Code = "held_between"   // the addresses
	HeldHost     Code = "held_host"      // the addresses
	HeldUnnamed  Code = "held_unnamed"   // the addresses
	HeldLateHost Code = "held_late_host" // the host
	NotListed    Code = "not_listed"     // the error
	ListsUnnamed Code = "lists_unnamed"
	NoClaims     Code = "no_claims" // the error
)

// What a plan with -refresh-only found.
const (
	IncompleteGone    Code = "incomplete_gone"
	Gone              Code = "gone"
	MissingUnrecorded Code = "missing_unrecorded"
	NotPublished      Code = "not_published"
	DiffersUnrecorded Code = "differs_unrecorded"
	DiffersUnfinished Code = "differs_unfinished"
	FoundBefore       Code = "found_before"
	DiffersFromConfig Code = "differs_from_config"
)

// Notes.
const (
	AutoEdge           Code = "auto_edge"           // to the address
	ProvidedEdge       Code = "provided_edge"       // to the address
	AutoEdgeCycle      Code = "auto_edge_cycle"     // to the address
	DependantForgotten Code = "dependant_forgotten" // the address
	NotChecked         Code = "not_checked"         // the address, its image
	Undescribed        Code = "type_unknown"        // its image
	DestroyedLater     Code = "destroyed_later"     // the key
	ForgottenLater     Code = "forgotten_later"     // the key
	Replaced           Code = "another_object_left"
	NothingRecorded    Code = "nothing_recorded"
	NothingToDestroy   Code = "nothing_to_destroy"
	ThroughPath        Code = "through_path"    // recorded, today
	CreatedByType      Code = "created_by_type" // the type
	CreatedByConfig    Code = "created_by_config"
	MayStay            Code = "may_stay"
	Guessed            Code = "guessed" // the former address
	TwoApplies         Code = "two_applies"
	TwoAppliesFirst    Code = "two_applies_create_first"
	Notified           Code = "notified"       // of the addresses
	SecretRotated      Code = "secret_rotated" // the secrets
	SecretKept         Code = "secret_kept"    // the secrets: its type was notified, and does nothing
	SecretUntold       Code = "secret_untold"  // the secrets: its type cannot be notified
	ApprovedAsReplace  Code = "approved_as_replacement"
)
