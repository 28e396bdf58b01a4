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
	checkPolicy    = "policy"

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
	checkInit, checkInitAgain, checkInitKeys, checkInitTerm, checkConfig, checkStrict, checkPolicy, checkIdentity,
	checkState, checkStateAgain, checkStateKeys, checkStateTerm,
	checkActions, checkValid, checkStateSchema, checkForecast, checkTwice, checkLastState, checkRefresh, checkUnknowns, checkDiscover,
	checkWatch, checkWatchQuiet, checkWatchEnds, checkWatchMany, checkRenamed,
	checkOther, checkChanged, checkUpdate, checkWorker, checkReuse,
	checkUnreached, checkAbsent, checkWatchTells, checkMemory, checkAbsentAgain, checkGone, checkRecreate, checkUnsettled,
	checkWorkerActs, checkDestroyed, checkSecrets,
}

// titles declare what is true when a check passes.
var titles = map[string]string{
	checkInit:        "init describes the image",
	checkInitAgain:   "init answers a second query alike",
	checkInitKeys:    "init ignores unknown keys",
	checkInitTerm:    "init ends on SIGTERM",
	checkConfig:      "the config fits the image's schema",
	checkStrict:      "the schema refuses typing errors",
	checkIdentity:    "the identity is declared, and every config has it",
	checkPolicy:      "it judges plans, and alike each time",
	checkState:       "state follows the protocol",
	checkStateAgain:  "state answers a second query alike",
	checkStateKeys:   "state ignores unknown keys",
	checkStateTerm:   "state ends on SIGTERM",
	checkRemoveOld:   "what existed before is removed",
	checkActions:     "the actions succeed",
	checkValid:       "the state is VALID after the actions",
	checkStateSchema: "the state fits the image's own schema",
	checkForecast:    "the forecast is met",
	checkTwice:       "a second apply has nothing to do",
	checkLastState:   "the recorded state does not change the verdict",
	checkUnknowns:    "it accepts unknown values",
	checkDiscover:    "discover lists it",
	checkRefresh:     "it accepts a refresh",
	checkWatch:       "a watch reports that it has started",
	checkWatchQuiet:  "a watch is quiet while nothing changes",
	checkWatchEnds:   "a watch ends on request",
	checkWatchMany:   "a worker watches many resources in one process",
	checkWatchTells:  "a watch reports changes by actions",
	checkRenamed:     "the resource may get another name",
	checkOther:       "another identity is another object",
	checkChanged:     "only the identity names the object",
	checkUpdate:      "a changed config is applied",
	checkWorker:      "a worker's answers match those of fresh runs",
	checkReuse:       "runs in one container are independent",
	checkUnreached:   "without a network it does not report absence",
	checkAbsent:      "it is destroyed when it is no longer declared",
	checkMemory:      "its memory is returned, until it is removed",
	checkAbsentAgain: "a destroyed object stays absent",
	checkGone:        "state reports its absence, whatever was recorded",
	checkRecreate:    "it can be created again",
	checkUnsettled:   "an object of unknown outcome is not created twice",
	checkWorkerActs:  "a worker's actions match those of fresh runs",
	checkDestroyed:   "and be removed again",
	checkSecrets:     "secrets of the config are not printed",
}
