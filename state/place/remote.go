package place

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"deployster/internal/base/diag"
	"deployster/internal/base/encryption"
	"deployster/internal/base/sharedlog"
)

// Remote is a state in a store that several machines use. One log has all of it: its
// lock, its journal and its copies.
type Remote struct {
	URL     string
	Connect func() (*sharedlog.Log, error)
	Machine string             // the id of this machine's data directory
	Pending string             // the directory on this machine for records that cannot be sent to the store; "" = none
	Claims  sharedlog.Presence // the claims of the processes of this machine
	Take    string             // the id of a claim to end, whoever holds it; "" = none
	log     *sharedlog.Log
	ahead   atomic.Pointer[ahead]
}

// maxRemoteCopies is how many earlier states are kept in a store.
const maxRemoteCopies = 50

// String returns the URL.
func (p *Remote) String() string { return p.URL }

// Word words an error of the store for the user.
func (p *Remote) Word(err error) error { return (&remote{place: p}).word(err) }

// Log returns the log that has the state.
func (p *Remote) Log() (*sharedlog.Log, error) {
	if p.log == nil {
		log, err := p.Connect()
		if err != nil {
			return nil, err
		}
		p.log = log
	}
	return p.log, nil
}

// Mark returns the number of the log entry that has the state.
func (p *Remote) Mark(ctx context.Context) (string, error) {
	log, err := p.Log()
	if err != nil {
		return "", err
	}
	at, err := log.StateAt(ctx)
	if err != nil || at == 0 {
		return "", p.Word(err)
	}
	return strconv.FormatUint(at, 10), nil
}

func (p *Remote) Find() (Found, error) {
	log, err := p.Log()
	if err != nil {
		return Found{}, err
	}
	b := &remote{place: p, log: log}
	return Found{Backend: b, Machine: p.Machine, Names: Names{State: p.URL, Journal: "the journal of " + p.URL,
		Copies:   "the copies of " + p.URL,
		CopyName: func(serial uint64) string { return fmt.Sprintf("serial %d of %s", serial, p.URL) }, MaxCopies: maxRemoteCopies}}, nil
}

// remote is a state as one command sees it: read at one moment, or held.
type remote struct {
	place *Remote
	log   *sharedlog.Log
	view  *sharedlog.View  // nil = nothing was read yet
	claim *sharedlog.Claim // nil = the state is only read

	states  []sharedlog.State // the present one, then earlier ones
	journal []byte            // what was recorded since the present state
	run     string            // the run that recorded it
	pending *sharedlog.Pending
}

// reading limits how long a command that only reads waits: see sharedlog.Log.
const reading = time.Minute

// look reads the log, once.
func (b *remote) look() error {
	if b.view != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), reading)
	defer cancel()
	b.place.readAhead(b.log)
	v, err := b.log.View(ctx)
	if err != nil {
		return b.word(err)
	}
	if to := v.MovedTo(); to != "" {
		return b.word(&sharedlog.MovedError{To: to})
	}
	b.see(v)
	return nil
}

func (b *remote) see(v *sharedlog.View) {
	b.view, b.states, b.journal, b.run = v, v.State.States, v.Journal, v.Run
}

func (b *remote) fetch(s sharedlog.State) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), reading)
	defer cancel()
	return b.log.Fetch(ctx, s)
}

// fetchPresent is fetch of the present state. Who holds the state reads it from the store, whose damage must be noticed
// before another state is built on it.
func (b *remote) fetchPresent(s sharedlog.State) ([]byte, error) {
	if b.claim != nil {
		return b.fetch(s)
	}
	ctx, cancel := context.WithTimeout(context.Background(), reading)
	defer cancel()
	return b.log.FetchPresent(ctx, s)
}

// Read reads the state. Who takes no lock keeps nobody from removing an object that
// its view names: then it reads again, where the state is another one by now.
func (b *remote) Read() ([]byte, error) {
	const attempts = 10
	gone := ""
	for try := 1; ; try++ {
		if err := b.look(); err != nil {
			return nil, err
		}
		if len(b.states) == 0 {
			return nil, os.ErrNotExist
		}
		present := b.states[0]
		if present.Object == gone || try > attempts {
			return nil, b.word(fmt.Errorf("%w: its object %s is gone", sharedlog.ErrDamaged, gone))
		}
		data, err := b.fetchPresent(present)
		if !errors.Is(err, os.ErrNotExist) {
			return data, b.word(err)
		}
		if gone = present.Object; b.claim == nil {
			b.view = nil
		}
	}
}

func (b *remote) Write(serial uint64, data []byte) error {
	s, err := b.claim.Put(serial, data, encryption.Is(data))
	if err != nil {
		return b.word(err)
	}
	kept := slices.DeleteFunc(slices.Clone(b.states), func(old sharedlog.State) bool { return old.Serial == serial })
	return b.become(append([]sharedlog.State{s}, kept...))
}

// become writes the list of states to the log; the first is the present one.
func (b *remote) become(states []sharedlog.State) error {
	if len(states) > maxRemoteCopies {
		states = states[:maxRemoteCopies]
	}
	if _, err := b.claim.Append(sharedlog.Entry{Kind: sharedlog.KindState, States: states}); err != nil {
		return b.word(err)
	}
	b.states, b.journal, b.run = states, nil, ""
	return nil
}

// SetAside has nothing to do: the present state stays among the copies.
func (b *remote) SetAside() (string, error) {
	if err := b.look(); err != nil || len(b.states) == 0 {
		return "", err
	}
	return b.states[0].Object, nil
}

func (b *remote) ReadJournal() ([]byte, error) {
	if err := b.look(); err != nil {
		return nil, err
	}
	if len(b.journal) == 0 {
		return nil, os.ErrNotExist
	}
	return b.journal, nil
}

func (b *remote) CreateJournal(lineage, run string) (Appender, error) {
	if b.place.Pending != "" {
		p, err := sharedlog.CreatePending(b.place.Pending, lineage, run)
		if err != nil {
			return nil, err
		}
		b.pending = p
	}
	return worded{b.claim.NewAppender(run, b.pending), b}, nil
}

// Run returns the id of the run that wrote the journal.
func (b *remote) Run() string { return b.run }

// RemoveJournal begins a new journal if the present one has any records.
func (b *remote) RemoveJournal() error {
	if len(b.journal) > 0 && len(b.states) > 0 {
		if err := b.become(b.states); err != nil {
			return err
		}
	}
	if b.pending == nil {
		return nil
	}
	err := b.pending.Remove()
	b.pending = nil
	return err
}

func (b *remote) LeftJournals(lineage string) (list []LeftJournal) {
	if b.place.Pending == "" {
		return nil
	}
	for _, path := range sharedlog.Left(b.place.Pending, lineage) {
		list = append(list, LeftJournal{Name: path,
			Read:   func() ([]byte, error) { return os.ReadFile(path) },
			Remove: func() error { return os.Remove(path) },
			Adopt: func(run string, tail []byte) error {
				if _, err := b.claim.Append(sharedlog.Entry{Kind: sharedlog.KindJournal, Run: run, Body: tail}); err != nil {
					return b.word(err)
				}
				b.journal = append(b.journal, tail...)
				return nil
			}})
	}
	return list
}

// lookAtCopies reads the log for its list of states, which it also takes from a log that is damaged.
func (b *remote) lookAtCopies() error {
	err := b.look()
	if !errors.Is(err, sharedlog.ErrDamaged) {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), reading)
	defer cancel()
	v, failed := b.log.Salvage(ctx)
	if failed != nil {
		return b.word(failed)
	}
	b.states = v.State.States
	return nil
}

// Salvaged reports whether the state was locked although its log is damaged.
func (b *remote) Salvaged() bool { return b.view != nil && b.view.Salvaged }

func (b *remote) ListCopies() ([]CopyFile, error) {
	if err := b.lookAtCopies(); err != nil {
		return nil, err
	}
	var list []CopyFile
	for _, s := range b.states {
		list = append(list, CopyFile{Serial: s.Serial, At: s.At})
	}
	slices.SortFunc(list, func(a, b CopyFile) int { return int(int64(a.Serial) - int64(b.Serial)) })
	return list, nil
}

// copyAt returns the index of a copy in the list; -1 = there is none.
func (b *remote) copyAt(serial uint64) int {
	return slices.IndexFunc(b.states, func(s sharedlog.State) bool { return s.Serial == serial })
}

func (b *remote) ReadCopy(serial uint64) ([]byte, error) {
	if err := b.lookAtCopies(); err != nil {
		return nil, err
	}
	at := b.copyAt(serial)
	if at < 0 {
		return nil, os.ErrNotExist
	}
	return b.fetch(b.states[at])
}

// WriteCopy replaces a copy, or adds one among the others. For the present state it does
// nothing: Write has stored it as an object of its own.
func (b *remote) WriteCopy(serial uint64, data []byte) error {
	at := b.copyAt(serial)
	if at == 0 || len(b.states) == 0 {
		return nil
	}
	s, err := b.claim.Put(serial, data, encryption.Is(data))
	if err != nil {
		return b.word(err)
	}
	states := slices.Clone(b.states)
	if at > 0 {
		s.At, states[at] = states[at].At, s
		return b.become(states)
	}
	for at = 1; at < len(states) && states[at].Serial > serial; at++ {
	}
	return b.become(slices.Insert(states, at, s))
}

// RemoveCopy removes an earlier state from the list. Its object is removed when the log is released.
func (b *remote) RemoveCopy(serial uint64) error {
	at := b.copyAt(serial)
	if at <= 0 {
		return nil
	}
	return b.become(slices.Delete(slices.Clone(b.states), at, at+1))
}

// Clean has nothing to do: unreferenced objects are removed when the log is released.
func (b *remote) Clean() {}

func (b *remote) Clear() (names []string) {
	if b.look() != nil || len(b.states) == 0 || !b.states[0].Encrypted {
		return nil
	}
	for _, s := range b.states[1:] {
		if !s.Encrypted {
			names = append(names, s.Object)
		}
	}
	return names
}

func (b *remote) Warning() *diag.Diagnostic { return nil }

func (b *remote) Use() (string, bool) {
	if b.look() != nil || !b.view.Held() || b.place.Claims.Dead(b.view.Tip.Claim) {
		return "", false
	}
	return inUseBy(b.view), true
}

// Move ends the log, and records where the state has moved.
func (b *remote) Move(to string) error { return b.word(b.claim.Move(to)) }
