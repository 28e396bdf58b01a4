package main

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"deployster/internal/testkit/bench/meter"
	"deployster/internal/testkit/services"
)

// commands are those of the scripts, beside those of testscript. The rows of a script can
// be checked without running it: see TestScripts_AreValid.
var commands = map[string]func(*script, []string) error{
	"size": (*script).size, "bed": (*script).openBed, "dir": (*script).openDir, "write": (*script).write, "chains": (*script).writeChains,
	"pack": (*script).pack, "build": (*script).build, "do": (*script).do, "terraform": (*script).openTerraform, "bare": (*script).openBare,
	"disk": (*script).useDisk, "read": (*script).read, "threads": threads, "port": (*script).freePort,
	"install": (*script).install, "fill": (*script).fill, "close": (*script).closeBed, "store": (*script).openStore,
	"move": (*script).moveState, "boot": (*script).boot,

	"line": (*script).line, "goal": (*script).goal, "ours": sideCommand("ours"), "theirs": sideCommand("theirs"),
	"beside":     textCommand(func(l *line) *string { return &l.Beside }),
	"note":       textCommand(func(l *line) *string { return &l.Note }),
	"containers": (*script).containers, "turns": (*script).turns, "take": (*script).take, "together": (*script).together,
	"small": (*script).small, "grown": (*script).grown,

	"watch": (*script).beginWatch, "looked": watchCommand((*watching).awaitChecks), "first": watchCommand((*watching).firstRepair),
	"change": watchCommand((*watching).measureChanges), "changes": watchCommand((*watching).measureStream),
	"rest": watchCommand((*watching).measureRest), "restart": watchCommand((*watching).measureRestarts),
	"reload": watchCommand((*watching).measureReloads), "flood": watchCommand((*watching).measureFlood),
	"people": watchCommand((*watching).measurePeople),
}

// size sets a variable to a number of resources, and at least to another.
func (s *script) size(args []string) error {
	if len(args) < 2 {
		return errors.New("usage: size NAME N [LEAST]")
	}
	n, err := number(args, 1, 0)
	least, err2 := number(args, 2, 1)
	s.ts.Setenv(args[0], strconv.Itoa(max(least, s.lab.sized(n))))
	return errors.Join(err, err2)
}

// openBed opens a bed: "workers N" and "things N" have that many resources.
func (s *script) openBed(args []string) (err error) {
	n, err := number(args, 1, 0)
	if err != nil {
		return err
	}
	var b *bed
	switch strings.Join(args[:min(1, len(args))], "") {
	case "workers":
		b, err = s.lab.workers(s.ctx, n)
	case "things":
		b, err = s.lab.things(s.ctx, n)
	default:
		b, err = s.lab.newBed()
	}
	s.bed, s.own = b, len(s.close)
	root, err2 := os.Getwd() // make bench runs this there
	s.ts.Setenv("root", root)
	s.ts.Setenv("data", b.data)
	s.ts.Setenv("work", b.work)
	s.close = append(s.close, b.close)
	return errors.Join(err, err2)
}

// openDir opens another working directory of the bed's data directory; with "twin", one
// beside it.
func (s *script) openDir(args []string) error {
	b, err := s.bed.sibling()
	s.close = append(s.close, b.closeWork)
	if len(args) > 0 {
		s.twin = b
	} else {
		s.bed = b
	}
	return err
}

// write writes a file of the script, which may be repeated, and then $i counts.
func (s *script) write(args []string) error {
	words, args := modified(args)
	if len(args) < 2 {
		return errors.New("usage: write [twin:] FILE AS [TIMES]")
	}
	times, err := number(args, 2, 1)
	if err != nil {
		return err
	}
	var text strings.Builder
	for i := range times {
		text.WriteString(s.expand(s.ts.ReadFile(args[0]), map[string]string{"i": strconv.Itoa(i)}))
	}
	b := s.bed
	if words["twin"] {
		b = s.twin
	}
	if filepath.IsAbs(args[1]) {
		return os.WriteFile(args[1], []byte(text.String()), 0o600)
	}
	return b.write(map[string][]byte{args[1]: []byte(text.String())})
}

// writeChains writes chains of ten resources: a block, and what refers to the one before.
func (s *script) writeChains(args []string) error {
	if len(args) != 3 {
		return errors.New("usage: chains BLOCK REFERENCE N")
	}
	n, err := number(args, 2, 0)
	return errors.Join(err, chains(s.bed.work, ".hcl", s.ts.ReadFile(args[0]), strings.TrimSpace(s.ts.ReadFile(args[1])), n))
}

// pack packs kinds of the type disk.
func (s *script) pack(args []string) (err error) {
	for _, name := range args {
		err = errors.Join(err, s.bed.packDisk(s.ctx, name))
	}
	return err
}

// build builds a program of this module.
func (s *script) build(args []string) error {
	if len(args) != 2 {
		return errors.New("usage: build PACKAGE TO")
	}
	return static(s.ctx, args[0], s.ts.MkAbs(args[1]))
}

// do runs a command that is not measured.
func (s *script) do(args []string) error {
	out, err := s.side(args)
	if err == nil {
		_, err = out.turn()
	}
	return err
}

// openTerraform makes a directory of terraform with chains, of terraform_data or of another
// block, and settings of its environment.
func (s *script) openTerraform(args []string) (err error) {
	if len(args) == 1 {
		n, err := number(args, 0, 0)
		if err == nil {
			s.terraform, err = s.lab.terraformBed(s.ctx, n)
		}
		s.close = append(s.close, s.terraform.close)
		return err
	}
	if len(args) < 3 {
		return errors.New("usage: terraform N | terraform BLOCK REFERENCE N [NAME=VALUE...]")
	}
	n, err := number(args, 2, 0)
	if err != nil {
		return err
	}
	s.terraform, err = s.lab.terraformOf(s.ctx, s.ts.ReadFile(args[0]), strings.TrimSpace(s.ts.ReadFile(args[1])), n, args[3:]...)
	s.close = append(s.close, s.terraform.close)
	return err
}

// useDisk has the world on the disk, and not in memory.
func (s *script) useDisk([]string) error { return unmount(filepath.Join(s.bed.work, "world")) }

// read sets a variable to the text of a file.
func (s *script) read(args []string) error {
	if len(args) != 2 {
		return errors.New("usage: read NAME FILE")
	}
	s.ts.Setenv(args[0], strings.TrimSpace(s.ts.ReadFile(args[1])))
	return nil
}

// threads requires that so many hosts may run here: each has threads of ssh and sshd, agent,
// containerd, shims and containers.
func threads(_ *script, args []string) error {
	hosts, err := number(args, 0, 1)
	if err != nil {
		return err
	}
	return meter.EnoughThreads(hosts * 35)
}

func (s *script) freePort([]string) error {
	port, err := services.FreePort()
	s.ts.Setenv("port", port)
	return err
}

// openStore starts a store for states: "postgres", or "s3" with the time that each answer takes.
func (s *script) openStore(args []string) (err error) {
	host := &services.Host{}
	s.close = append(s.close, host.End)
	switch {
	case len(args) == 1 && args[0] == "postgres":
		s.store.url, err = host.Started(func() string {
			return "postgres://deploy@" + services.Postgres(host) + "/state?sslmode=disable&name=NAME"
		})
	case len(args) == 2 && args[0] == "s3":
		wait, perr := time.ParseDuration(args[1])
		s.store.url, err = host.Started(func() string {
			p := services.NewProxy(host, services.S3(host))
			p.Delay(wait)
			return "s3://state/NAME?region=eu-central-1&path_style=true&endpoint=http://" + p.Address
		})
		err = errors.Join(perr, err)
	default:
		return errors.New("usage: store postgres | store s3 TIME")
	}
	return err
}

// moveState makes the state of a file, and puts it into the store as well.
func (s *script) moveState([]string) error {
	if err := errors.Join(s.bed.reset(), s.bed.do(s.ctx, "apply", "-auto-approve")); err != nil {
		return err
	}
	s.store.count++
	if _, err := s.bed.meter.Run(s.ctx, s.store.command(s.bed, "state", "move", s.store.state())); err != nil {
		return err
	}
	file := filepath.Join(s.bed.work, "deployster.state.json")
	return os.Rename(file+".moved", file)
}
