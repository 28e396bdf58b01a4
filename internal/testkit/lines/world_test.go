package lines

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/artifact/artifacttest"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/runnertest"
	"deployster/state"
	"deployster/state/actions"
)

// fate is what becomes of a put.
type fate string

const (
	well       fate = ""
	refused    fate = "fails, and has published nothing"
	late       fate = "fails, and has published"
	lostBefore fate = "is lost before it has published"
	lostAfter  fate = "is lost after it has published"
	unbegun    fate = "is not begun"
)

func fates() []fate { return []fate{well, well, well, refused, late, lostBefore, lostAfter, unbegun} }

// end is how the last put ended whose program may have been begun, as far as that is on
// record.
type end string

const (
	unseen     end = "" // nobody knows
	endedWell  end = "ended well, and said what it made"
	endedBadly end = "ended with exit code 7"
	saidDone   end = "is done, a person says"
	saidFailed end = "failed, a person says"
)

// effect is one put that has published: the config of the one that was tried before it, and
// what was on record of how that ended.
type effect struct {
	config, ref, files, reason, before string
	known                              end
}

// world is two lines of versions: "site", whose files a resource and a put have, and "out",
// to which is published; and what the resource is.
type world struct {
	*artifacttest.World
	space string // of all versions

	mu      sync.Mutex
	newest  int // of site, ever
	there   []int
	docroot string // the files that it has
	fate    fate
	effects []effect
	tried   string // the config of the last put whose program was begun
	ends    ends
	now     effect // what a put of the command at work will be
}

// ends is what the records of the publish tell of its last put.
type ends struct {
	known, before end // before the command at work has begun another
	tried         string
	started       bool // the command at work has begun one,
	ran           bool // and its program too
}

// The sources of the two lines.
const siteSource, outSource = `{"n":"site"}`, `{"n":"out"}`

func newWorld(speaks artifact.Protocol) *world {
	w := &world{World: artifacttest.NewWorld()}
	if speaks == artifact.Artifacts2 {
		w.space = "main"
	}
	w.AddImage("test/line:1", speaks)
	w.move(1)
	return w
}

// move makes the site have these versions.
func (w *world) move(there ...int) {
	w.there = there
	for _, n := range there {
		w.newest = max(w.newest, n)
	}
	w.Change(siteSource, func(l *artifacttest.Line) {
		l.Default, l.Spaces[w.space] = w.space, nil
		for _, n := range there {
			l.Spaces[w.space] = append(l.Spaces[w.space], artifact.Versioned{Space: w.space, Version: version(n)})
		}
	})
}

func version(n int) artifact.Version { return artifact.Version{"ref": fmt.Sprint("site", n)} }

// Put implements artifact.Client.
func (w *world) Put(_ context.Context, _ artifact.Target, _ artifact.Info, in artifact.PutInput) (artifact.Put, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	fate := w.fate
	w.fate = well
	dir, err := os.MkdirTemp("", "put")
	if err != nil {
		return artifact.Put{}, err
	}
	defer os.RemoveAll(dir)
	if err := in.Fill(dir); err != nil || fate == unbegun {
		return artifact.Put{}, errors.Join(err, errors.New("no container could be made"))
	}
	files, err := os.ReadFile(filepath.Join(dir, "site", "version"))
	if err != nil {
		return artifact.Put{}, err
	}
	var v artifact.Versioned
	if err := json.Unmarshal(in.Params, &v); err != nil {
		return artifact.Put{}, err
	}
	before := w.tried
	w.tried, w.ends.ran = w.now.config, true
	if fate == well || fate == late || fate == lostAfter {
		e := w.now
		e.before = before
		e.ref, e.files = v.Version["ref"], string(files)
		w.effects = append(w.effects, e)
		w.Change(outSource, func(l *artifacttest.Line) { l.Default, l.Spaces[v.Space] = v.Space, append(l.Spaces[v.Space], v) })
	}
	switch fate {
	case lostBefore, lostAfter:
		return artifact.Put{}, &runner.UnknownError{Container: "it", Err: errors.New("the machine was gone")}
	case refused, late:
		err := error(&artifact.Error{Class: artifact.Failed, Err: errors.New("exit code 7")})
		return artifact.Put{}, errors.Join(err, in.Ended(artifact.Put{}, runner.Result{ExitCode: 7}, err))
	}
	p := artifact.Put{Created: []artifact.Versioned{v}}
	return p, in.Ended(p, runner.Result{}, nil)
}

// runner has the type of the resource, which shows the files of the site.
func (w *world) runner() runner.Runner {
	f := runnertest.NewFake()
	f.Add("test/docroot:1", func(_ context.Context, s runner.Spec, stdin io.Reader, stdout, stderr io.Writer) int {
		_, _ = io.Copy(io.Discard, stdin)
		step := ""
		if len(s.Args) > 0 {
			step = s.Args[0]
		}
		if step == "" {
			_, _ = io.WriteString(stdout, `{"plugs":{"site":{"container_path":"/site","writable":false}},"state_action":{"args":["state"]}}`)
			return 0
		}
		files := ""
		for _, m := range s.Mounts {
			if b, err := os.ReadFile(filepath.Join(m.Source, "version")); err == nil && m.Own {
				files = string(b)
			}
		}
		if files == "" {
			_, _ = io.WriteString(stderr, "no files")
			return 9
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		switch {
		case step == "copy":
			w.docroot = files
		case w.docroot == files:
			_, _ = fmt.Fprintf(stdout, `{"status":"VALID","state":{"files":%q}}`, files)
		default:
			_, _ = fmt.Fprintf(stdout, `{"status":"STALE","staleState":{"files":%q},"actions":[{"name":"copy","args":["copy"]}]}`, w.docroot)
		}
		return 0
	})
	return f
}

// mortal is a journal whose process dies at a record: nothing is written from then on.
type mortal struct {
	*state.Journal
	ends  *ends
	at    *int
	after bool // the last record is written
}

var errDead = errors.New("the process is dead")

func (m mortal) dies(write func() error) error {
	if *m.at--; *m.at == 0 && m.after {
		return errors.Join(write(), errDead)
	}
	if *m.at == 0 {
		return errDead
	}
	if *m.at < 0 {
		return errDead
	}
	return write()
}

func (m mortal) ActionStarted(s state.Start) error {
	return m.dies(func() error {
		if s.Address == released {
			m.ends.started, m.ends.before, m.ends.known = true, m.ends.known, unseen
		}
		return m.Journal.ActionStarted(s)
	})
}

func (m mortal) ActionEnded(addr, action string, e state.End) error {
	return m.dies(func() error {
		switch {
		case addr != released:
		case !m.ends.ran: // then the put before it is the last one
			m.ends.known = m.ends.before
		case e.Exit == 0:
			m.ends.known = endedWell
		default:
			m.ends.known = endedBadly
		}
		return m.Journal.ActionEnded(addr, action, e)
	})
}

func (m mortal) Valid(addr string, e state.Entry) error {
	return m.dies(func() error { return m.Journal.Valid(addr, e) })
}

func (m mortal) Outputs(o map[string]state.Output) error {
	return m.dies(func() error { return m.Journal.Outputs(o) })
}

func (m mortal) Put(addr string, p actions.Put) error {
	return m.dies(func() error { return m.Journal.Put(addr, p) })
}
