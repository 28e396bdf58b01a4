package report

// The names of the checks in reports.
const (
	CheckInit      = "init"
	CheckInitAgain = "init-again"
	CheckInitKeys  = "init-unknown-keys"
	CheckInitTerm  = "init-sigterm"
	CheckConfig    = "config"
	CheckStrict    = "config-strict"
	CheckIdentity  = "identity"
	CheckPolicy    = "policy"
	CheckNotify    = "notify"
	CheckSecret    = "secret"

	CheckState      = "state"
	CheckStateAgain = "state-again"
	CheckStateKeys  = "state-unknown-keys"
	CheckStateTerm  = "state-sigterm"

	CheckRemoveOld   = "remove-existing"
	CheckActions     = "actions"
	CheckValid       = "valid"
	CheckStateSchema = "state-schema"
	CheckForecast    = "forecast"
	CheckTwice       = "apply-twice"
	CheckLastState   = "last-state"
	CheckRefresh     = "refresh"
	CheckUnknowns    = "unknowns"
	CheckDiscover    = "discover"
	CheckWatch       = "watch-starts"
	CheckWatchQuiet  = "watch-quiet"
	CheckWatchEnds   = "watch-ends"
	CheckWatchMany   = "watch-worker"
	CheckWatchTells  = "watch-tells"
	CheckRenamed     = "renamed"
	CheckOther       = "identity-other"
	CheckChanged     = "identity-same"
	CheckUpdate      = "update"
	CheckWorker      = "worker"
	CheckReuse       = "reuse"
	CheckOperations  = "operations"

	CheckUnreached   = "absent-unreached"
	CheckAbsent      = "absent"
	CheckMemory      = "memory"
	CheckAbsentAgain = "absent-again"
	CheckGone        = "gone"
	CheckRecreate    = "create-again"
	CheckUnsettled   = "unsettled"
	CheckWorkerActs  = "worker-actions"
	CheckReuseActs   = "reuse-actions"
	CheckDestroyed   = "destroy-again"

	CheckSecrets = "secrets"
)

// Order is the order of the checks.
var Order = []string{
	CheckInit, CheckInitAgain, CheckInitKeys, CheckInitTerm, CheckConfig, CheckStrict, CheckPolicy, CheckNotify, CheckSecret,
	CheckIdentity,
	CheckState, CheckStateAgain, CheckStateKeys, CheckStateTerm,
	CheckActions, CheckValid, CheckStateSchema, CheckForecast, CheckTwice, CheckLastState, CheckRefresh, CheckUnknowns, CheckDiscover,
	CheckWatch, CheckWatchQuiet, CheckWatchEnds, CheckWatchMany, CheckRenamed,
	CheckOther, CheckChanged, CheckUpdate, CheckWorker, CheckReuse, CheckOperations,
	CheckUnreached, CheckAbsent, CheckWatchTells, CheckMemory, CheckAbsentAgain, CheckGone, CheckRecreate, CheckUnsettled,
	CheckWorkerActs, CheckReuseActs, CheckDestroyed, CheckSecrets,
}

// Titles declare what is true when a check passes.
var Titles = map[string]string{
	CheckInit:        "init describes the image",
	CheckInitAgain:   "init answers a second query alike",
	CheckInitKeys:    "init ignores unknown keys",
	CheckInitTerm:    "init ends on SIGTERM",
	CheckConfig:      "the config fits the image's schema",
	CheckStrict:      "the schema refuses typing errors",
	CheckIdentity:    "the identity is declared, and every config has it",
	CheckPolicy:      "it judges plans, and alike each time",
	CheckNotify:      "it sends a notification",
	CheckSecret:      "it reads a secret, and shows it nowhere else",
	CheckState:       "state follows the protocol",
	CheckStateAgain:  "state answers a second query alike",
	CheckStateKeys:   "state ignores unknown keys",
	CheckStateTerm:   "state ends on SIGTERM",
	CheckRemoveOld:   "what existed before is removed",
	CheckActions:     "the actions succeed",
	CheckValid:       "the state is VALID after the actions",
	CheckStateSchema: "the state fits the image's own schema",
	CheckForecast:    "the forecast is met",
	CheckTwice:       "a second apply has nothing to do",
	CheckLastState:   "the recorded state does not change the verdict",
	CheckUnknowns:    "it accepts unknown values",
	CheckDiscover:    "discover lists it",
	CheckRefresh:     "it accepts a refresh",
	CheckWatch:       "a watch reports that it has started",
	CheckWatchQuiet:  "a watch is quiet while nothing changes",
	CheckWatchEnds:   "a watch ends on request",
	CheckWatchMany:   "a worker watches many resources in one process",
	CheckWatchTells:  "a watch reports changes by actions",
	CheckRenamed:     "the resource may get another name",
	CheckOther:       "another identity is another object",
	CheckChanged:     "only the identity names the object",
	CheckUpdate:      "a changed config is applied",
	CheckWorker:      "a worker's answers match those of fresh runs",
	CheckReuse:       "runs in one container are independent",
	CheckOperations:  "its operations run, and keep what they declare",
	CheckUnreached:   "without a network it does not report absence",
	CheckAbsent:      "it is destroyed when it is no longer declared",
	CheckMemory:      "its memory is returned, until it is removed",
	CheckAbsentAgain: "a destroyed object stays absent",
	CheckGone:        "state reports its absence, whatever was recorded",
	CheckRecreate:    "it can be created again",
	CheckUnsettled:   "an object of unknown outcome is not created twice",
	CheckWorkerActs:  "a worker's actions match those of fresh runs",
	CheckReuseActs:   "actions in one container are independent",
	CheckDestroyed:   "and be removed again",
	CheckSecrets:     "secrets of the config are not printed",
}
