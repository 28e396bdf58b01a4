package cli

import (
	"time"

	"deployster/internal/base/diag"
)

// keepWorkers is how long idle workers are kept for the next command.
func (e Env) keepWorkers() (time.Duration, error) {
	text := e.get("DEPLOYSTER_KEEP")
	if text == "" {
		return time.Minute, nil
	}
	keep, err := time.ParseDuration(text)
	if err != nil || keep < 0 {
		return 0, diag.Errorf("DEPLOYSTER_KEEP is not a duration", "It is %q. It says how long an idle worker is kept for the next command: write it like 60s or 5m, or 0s for not at all.", text)
	}
	return keep, nil
}
