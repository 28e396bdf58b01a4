//go:build machines

package systemd

import (
	"math/rand/v2"
	"testing"

	"deployster/machine/internal/kindtest"
)

// Whatever config follows another one: it is valid after its actions, and what was forecast is so.
func TestService_RandomEdits(t *testing.T) {
	made(t, "edited.service", sleeper)
	random := rand.New(rand.NewPCG(1, 2))
	r := service(t)
	for range 60 {
		c := config{"name": "edited"}
		for _, key := range []string{"running", "enabled"} {
			if random.IntN(3) > 0 {
				c[key] = random.IntN(2) == 0
			}
		}
		switch random.IntN(6) {
		case 0:
			r.Destroy(c)
			continue
		case 1:
			kindtest.Shell(t, "systemctl stop edited")
		case 2:
			kindtest.Shell(t, "systemctl enable --now edited 2>/dev/null")
		}
		r.Apply(c)
		r.Valid(c)
	}
}

func TestTimer_RandomEdits(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	pick := func(of ...any) any { return of[random.IntN(len(of))] }
	r := kindtest.New(t, NewTimer(here))
	var last config
	for range 20 {
		last = config{"name": "edited", "command": pick([]string{"/bin/true"}, []string{"/bin/echo", "%h $HOME", "'\"\\"}),
			"calendar": pick([]string{"daily"}, []string{"Mon 03:00", "*-*-01 04:00:00"})}
		for key, values := range map[string][]any{"user": {"root", "daemon"}, "directory": {"/tmp", "/var/tmp"}, "persistent": {true, false},
			"randomized_delay": {"15m", "30s"}, "description": {"a%b", "c"}, "environment": {map[string]string{"A": "1 2", "B": "%%"}}} {
			if random.IntN(2) == 0 {
				last[key] = pick(values...)
			}
		}
		r.Apply(last)
		r.Valid(last)
	}
	r.Destroy(last)
}

func TestService_NeedsSystemd(t *testing.T) {
	kindtest.Shell(t, "mv /run/systemd/system /run/systemd/system.away")
	defer kindtest.Shell(t, "mv /run/systemd/system.away /run/systemd/system")
	service(t).Fails(config{"name": "ssh", "running": true}, "config", "does not run systemd")
}
