package rootless

import (
	"bytes"
	"os/exec"
	"strconv"
	"strings"
)

// mapping is how the ids of the namespace are mapped, and how a process enters it.
type mapping struct {
	newuidmap, newgidmap string // the programs
	nsenter              string
	uids, gids           []string
}

// write maps the ids of a process.
func (m mapping) write(pid int) error {
	for program, triples := range map[string][]string{m.newuidmap: m.uids, m.newgidmap: m.gids} {
		c := exec.Command(program, append([]string{strconv.Itoa(pid)}, triples...)...)
		var said bytes.Buffer
		c.Stdout, c.Stderr = &said, &said
		if err := c.Run(); err != nil {
			return errMapping(program, strings.TrimSpace(said.String()), err)
		}
	}
	return nil
}
