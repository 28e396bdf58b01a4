package conformance

// The names of the checks in reports.
const (
	checkInit      = "init"
	checkInitAgain = "init-again"
	checkInitKeys  = "init-unknown-keys"
	checkInitTerm  = "init-sigterm"
	checkConfig    = "config"
	checkStrict    = "config-strict"
	checkIdentity  = "identity"

	checkState      = "state"
	checkStateAgain = "state-again"
	checkStateKeys  = "state-unknown-keys"
	checkStateTerm  = "state-sigterm"

	checkRemoveOld   = "remove-existing"
	checkActions     = "actions"
	checkValid       = "valid"
	checkStateSchema = "state-schema"
	checkForecast    = "forecast"
	checkTwice       = "apply-twice"
	checkLastState   = "last-state"
	checkRefresh     = "refresh"
	checkUnknowns    = "unknowns"
	checkDiscover    = "discover"
	checkWatch       = "watch-starts"
	checkWatchQuiet  = "watch-quiet"
	checkWatchEnds   = "watch-ends"
	checkWatchMany   = "watch-worker"
	checkWatchTells  = "watch-tells"
	checkRenamed     = "renamed"
	checkOther       = "identity-other"
	checkChanged     = "identity-same"
	checkUpdate      = "update"
	checkWorker      = "worker"
	checkReuse       = "reuse"

	checkUnreached   = "absent-unreached"
	checkAbsent      = "absent"
	checkMemory      = "memory"
	checkAbsentAgain = "absent-again"
	checkGone        = "gone"
	checkRecreate    = "create-again"
	checkUnsettled   = "unsettled"
	checkWorkerActs  = "worker-actions"
	checkDestroyed   = "destroy-again"

	checkSecrets = "secrets"
)

// order is the order of the checks.
var order = []string{
	checkInit, checkInitAgain, checkInitKeys, checkInitTerm, checkConfig, checkStrict, checkIdentity,
	checkState, checkStateAgain, checkStateKeys, checkStateTerm,
	checkActions, checkValid, checkStateSchema, checkForecast, checkTwice, checkLastState, checkRefresh, checkUnknowns, checkDiscover,
	checkWatch, checkWatchQuiet, checkWatchEnds, checkWatchMany, checkRenamed,
	checkOther, checkChanged, checkUpdate, checkWorker, checkReuse,
	checkUnreached, checkAbsent, checkWatchTells, checkMemory, checkAbsentAgain, checkGone, checkRecreate, checkUnsettled,
	checkWorkerActs, checkDestroyed, checkSecrets,
}

// titles say what is true when a check passes.
var titles = map[string]string{
	checkInit:        "init says what the image is",
	checkInitAgain:   "init says the same when it is asked again",
	checkInitKeys:    "init is not confused by keys that it does not know",
	checkInitTerm:    "init ends when it is asked to",
	checkConfig:      "the config fits the image's schema",
	checkStrict:      "the schema refuses typing errors",
	checkIdentity:    "the identity is said, and can be had of every config",
	checkState:       "state answers as the protocol asks",
	checkStateAgain:  "state says the same when it is asked again",
	checkStateKeys:   "state is not confused by keys that it does not know",
	checkStateTerm:   "state ends when it is asked to",
	checkRemoveOld:   "what existed before is removed",
	checkActions:     "the actions end well",
	checkValid:       "the state is VALID after the actions",
	checkStateSchema: "the state fits the image's own schema",
	checkForecast:    "what was forecast came true",
	checkTwice:       "a second apply has nothing to do",
	checkLastState:   "the recorded state does not change the verdict",
	checkUnknowns:    "it can be asked while values are not known yet",
	checkDiscover:    "it is listed among what exists",
	checkRefresh:     "it can be told that what it subscribes was acted on",
	checkWatch:       "a watch says that it has begun",
	checkWatchQuiet:  "a watch is quiet while nothing changes",
	checkWatchEnds:   "a watch ends when it is asked to",
	checkWatchMany:   "a worker watches many resources in one process",
	checkWatchTells:  "a watch tells of what actions change",
	checkRenamed:     "the resource may get another name",
	checkOther:       "another identity is another thing",
	checkChanged:     "what is not in the identity does not name the thing",
	checkUpdate:      "a changed config is carried out",
	checkWorker:      "a worker answers as fresh runs do",
	checkReuse:       "runs after each other do not disturb each other",
	checkUnreached:   "without a network its absence is not claimed",
	checkAbsent:      "it is destroyed when it is not declared any more",
	checkMemory:      "what must not be forgotten is said, until it is removed",
	checkAbsentAgain: "what is gone stays gone",
	checkGone:        "state sees that it is gone, whatever was recorded",
	checkRecreate:    "it can be created again",
	checkUnsettled:   "what may have been created is not created a second time",
	checkWorkerActs:  "a worker's actions do what those of fresh runs do",
	checkDestroyed:   "and be removed again",
	checkSecrets:     "secrets of the config are not printed",
}
