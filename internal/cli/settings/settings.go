package settings

import (
	"path/filepath"
	"time"

	"deployster/internal/base/diag"
	"deployster/internal/base/words"
)

// Lookup returns the value of an environment variable; "" if it is not set.
type Lookup func(name string) string

// Size returns the number of bytes in a variable; 0 = it is not set.
func (env Lookup) Size(name string) (int64, error) {
	text := env(name)
	if text == "" {
		return 0, nil
	}
	size, err := words.ParseBytes(text)
	if err != nil {
		return 0, diag.Errorf(name+" is not a size", "%s.", err)
	}
	return size, nil
}

// KeepWorkers returns how long idle workers are kept for the next command.
func (env Lookup) KeepWorkers() (time.Duration, error) {
	text := env("DEPLOYSTER_KEEP")
	if text == "" {
		return time.Minute, nil
	}
	keep, err := time.ParseDuration(text)
	if err != nil || keep < 0 {
		return 0, diag.Errorf("DEPLOYSTER_KEEP is not a duration",
			"It is %q. It sets how long an idle worker is kept for the next command: write it like 60s or 5m, or 0s for not at all.", text)
	}
	return keep, nil
}

// IdleExit returns how long the embedded containerd waits for work; 0 = the default.
func (env Lookup) IdleExit() time.Duration {
	idle, _ := time.ParseDuration(env("DEPLOYSTER_IDLE_EXIT")) // not a duration: the default
	return idle
}

// CertDirs returns the directories with the certificates of registries.
func (env Lookup) CertDirs() []string {
	if dirs := filepath.SplitList(env("DEPLOYSTER_CERTS_DIR")); len(dirs) > 0 {
		return dirs
	}
	return []string{"/etc/containerd/certs.d", "/etc/docker/certs.d"}
}
