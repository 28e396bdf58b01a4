//go:build machines

package accounts

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"deployster/machine/internal/kindtest"
)

// Whatever config follows another one: it is valid after its actions, and what was forecast is so.
func TestUser_RandomEdits(t *testing.T) {
	forget(t, "ann")
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(of ...any) any { return of[random.IntN(len(of))] }
	r := userOf(t)
	for range 200 {
		if random.IntN(8) == 0 {
			r.Destroy(config{"name": "ann"})
			continue
		}
		c := config{"name": "ann"}
		for key, values := range map[string][]any{
			"uid": {3001, 3002, 3003}, "group": {"users", "100", "audio"}, "shell": {"/bin/sh", "/bin/bash"}, "comment": {"", "Ann", "Änn, x"},
			"groups":        {[]string{}, []string{"audio"}, []string{"video", "audio"}, []string{"cdrom", "adm", "video"}},
			"membership":    {"minimum", "inclusive"},
			"home":          {"/home/ann", "/srv/ann2", "/srv/ann3"},
			"system":        {true, false},
			"expires":       {"never", "2031-12-31", "2032-02-29"},
			"password_hash": {"*", "$6$saltsalt$one", "$6$saltsalt$two"},
		} {
			if random.IntN(3) == 0 {
				c[key] = pick(values...)
			}
		}
		r.Apply(c)
		r.Valid(c)
	}
	kindtest.Shell(t, "userdel -rf ann 2>/dev/null; rm -rf /srv/ann2 /srv/ann3; true")
}

func TestGroup_RandomEdits(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	r := groupOf(t)
	for range 200 {
		c := config{"name": "edited"}
		if random.IntN(2) == 0 {
			c["gid"] = 4000 + random.IntN(3)
		}
		if random.IntN(3) == 0 {
			c["system"] = true
		}
		if random.IntN(5) == 0 {
			r.Destroy(c)
			continue
		}
		r.Apply(c)
		r.Valid(c)
	}
	r.Destroy(config{"name": "edited"})
}

func TestKey_RandomEdits(t *testing.T) {
	forget(t, "ann")
	kindtest.Shell(t, "useradd -m ann")
	random := rand.New(rand.NewPCG(5, 6))
	r := keyOf(t)
	for i := range 200 {
		c := config{"user": "ann", "key": keyA}
		if random.IntN(2) == 0 {
			c["options"] = [][]string{{"no-pty"}, {`from="10.0.0.*,!x"`, "restrict"}, {`command="echo \"a b\""`}}[random.IntN(3)]
		}
		if random.IntN(2) == 0 {
			c["comment"] = fmt.Sprint("comment ", random.IntN(3))
		}
		switch random.IntN(8) {
		case 0:
			r.Destroy(c)
			continue
		case 1:
			kindtest.Shell(t, fmt.Sprintf("mkdir -p /home/ann/.ssh; echo '%s %d' >>/home/ann/.ssh/authorized_keys", []string{keyA, keyB}[i%2], i))
		}
		r.Apply(c)
		r.Valid(c)
	}
}
