package state

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"deployster/internal/base/diag"
	"deployster/internal/base/natural"
	"deployster/internal/base/words"
	"deployster/state/actions"
	"deployster/state/moves"
)

// Recovery describes the content of a journal that its process has not folded in: the
// process is still running, or was killed.
type Recovery struct {
	Plan     string
	By       actions.By
	Began    time.Time
	InFlight []InFlight // actions that were started and whose end is not recorded
	// Unconfirmed are resources whose actions ended, but which were not seen to be VALID
	// afterwards.
	Unconfirmed []string
}

// Warning notifies the user about the interrupted apply.
func (r *Recovery) Warning() *diag.Diagnostic {
	var b strings.Builder
	fmt.Fprintf(&b, "The apply of plan %s that began at %s, %s, was interrupted; its progress was saved.", r.Plan,
		r.Began.Format(time.RFC3339), diag.Visible(r.By.String()))
	var open []string
	for _, f := range r.InFlight {
		open = append(open, fmt.Sprintf("%q of %s (started at %s)", f.Action, f.Address, f.Started.Format(time.RFC3339)))
	}
	if len(open) > 0 {
		fmt.Fprintf(&b, " Of unknown outcome: %s.", words.List(slices.SortedFunc(slices.Values(open), natural.Compare), 3))
	}
	if len(r.Unconfirmed) > 0 {
		fmt.Fprintf(&b, " Actions of %s have ended, and their result was not checked.", words.List(r.Unconfirmed, 3))
	}
	b.WriteString(" Run plan to see the current state, then apply. To continue a saved plan, apply the same file again.")
	return diag.Warningf("An earlier apply was interrupted", "%s", b.String())
}

// replayRun is a state with the facts of its journal applied.
type replayRun struct {
	snapshot Snapshot
	begin    begin
	began    time.Time
	inFlight []InFlight
	acted    []string // addresses with ended actions that were not seen to be VALID or gone since
	moved    bool
	done     map[string]string   // for Applied.Done; nil = the run was not killed
	started  []string            // for Applied.Begun
	failed   []string            // for Applied.Failed
	rounds   []string            // for Applied.Rounds
	previous map[string]previous // forgotten entries, by the address where an action on another object began
}

// previous is the earlier entry of an address, with its unsettled actions.
type previous struct {
	entry     Entry
	unsettled actions.Unsettled // without actions that are in flight: the entry was settled
}

// newReplay begins a run on a copy of a snapshot.
func newReplay(base Snapshot, b begin, at time.Time) *replayRun {
	s := base.Clone()
	s.Format = Format
	s.Lineage, s.Serial = b.Lineage, b.Serial+1
	if s.HasRead(b.Read); b.Exports != nil {
		s.Exports = b.Exports
	}
	return &replayRun{snapshot: s, begin: b, began: at, previous: map[string]previous{}}
}

// apply applies one fact to the snapshot.
func (p *replayRun) apply(r record) {
	switch r.Kind {
	case kindStarted:
		p.dropPrevious(r)
		p.inFlight = append(p.inFlight, InFlight{Address: r.Address, Action: r.Action, Key: r.Key, Started: r.Time})
		p.started = append(p.started, r.Address)
		r.start(&p.snapshot, p.begin)
		p.begun(r)
		p.snapshot.Remember(r.Address, r.Memory)
	case kindEnded:
		p.removeInFlight(r)
		r.end(&p.snapshot, r.Exit)
		p.snapshot.Remember(r.Address, r.Memory)
		if !slices.Contains(p.acted, r.Address) {
			p.acted = append(p.acted, r.Address)
		}
	case kindValid:
		e := *r.Entry
		e.Acted = max(e.Acted, p.snapshot.Resources[r.Address].Acted)
		e.Transfer = p.snapshot.Resources[r.Address].Transfer
		p.snapshot.Resources[r.Address] = e
		p.settle(r.Address, &e)
	case kindRemoved:
		delete(p.snapshot.Resources, r.Address)
		p.snapshot.ForgetOperations(r.Address)
		p.settle(r.Address, nil)
	case kindOutputs:
		p.snapshot.Outputs = r.Outputs
		if p.snapshot.Outputs == nil {
			p.snapshot.Outputs = map[string]Output{}
		}
	case kindPins:
		all := map[string]Pin{}
		maps.Copy(all, p.snapshot.Pins)
		maps.Copy(all, r.Pins)
		p.snapshot.Pins = all
	case kindArtifacts:
		p.snapshot.Artifacts = r.Artifacts
	case kindPut:
		p.snapshot.Put(r.Address, r.Put)
	case kindSaw:
		p.snapshot.See(r.Addresses)
	case kindOperations:
		p.snapshot.Operations = r.Operations
	case kindTurn:
		p.snapshot.Operations = p.snapshot.Operations.Took(r.Action, *r.Turn, r.until())
	case kindFormer:
		p.snapshot.Former = r.Former
	case kindRound: // what acts from now on is newer than what was seen until now
		p.snapshot.Serial++
		p.rounds = append(p.rounds, r.Round)
	case kindFailed:
		p.failed = append(p.failed, r.Address)
	case kindMoved:
		if moved, err := p.snapshot.Moved(r.Moves); err == nil { // the move was checked before the record was written
			p.snapshot, p.moved = moved, true
		}
	}
}

// dropPrevious forgets the entry at an address where the first action on another object begins.
func (p *replayRun) dropPrevious(r record) {
	entry, known := p.snapshot.Resources[r.Address]
	if !known || r.Entry == nil {
		return
	}
	p.previous[r.Address] = previous{entry, p.snapshot.Unsettled[r.Address]}
	delete(p.snapshot.Resources, r.Address)
	p.settle(r.Address, nil)
}

// begun notes that an action began on a resource: its entry may no longer be true, and
// its subscribers must get the news, including those that have subscribed with this run.
func (p *replayRun) begun(r record) {
	if on, operation := moves.OperationAt(r.Address); operation != "" {
		if e, known := p.snapshot.Resources[on]; known {
			e.Dirty = true // the operation may change the object
			p.snapshot.Resources[on] = e
		}
		return
	}
	e, known := p.snapshot.Resources[r.Address]
	for _, by := range r.Subscribers {
		if s, recorded := p.snapshot.Resources[by]; recorded {
			seen := map[string]uint64{r.Address: e.Acted}
			maps.Copy(seen, s.Seen)
			s.Seen = seen
			p.snapshot.Resources[by] = s
		}
	}
	if !known && r.Entry != nil {
		e, known = *r.Entry, true
	}
	e.Secrets = nil // until its actions have ended well, it is unknown which values the object has
	if e.Dirty, e.Acted = true, p.snapshot.Serial; known {
		p.snapshot.Resources[r.Address] = e
	}
}

// rollbackStart undoes the start of an action that was not run.
func (p *replayRun) rollbackStart(r record) {
	p.removeInFlight(r)
	r.end(&p.snapshot, nil)
	if r.Entry == nil {
		return
	}
	delete(p.snapshot.Resources, r.Address) // the same record added it
	if was, replaced := p.previous[r.Address]; replaced {
		p.snapshot.Resources[r.Address] = was.entry
		p.snapshot.Leave(r.Address, was.unsettled)
	}
}

func (p *replayRun) removeInFlight(r record) {
	p.inFlight = slices.DeleteFunc(p.inFlight, func(f InFlight) bool { return f.Address == r.Address && f.Action == r.Action })
}

// settle notes that the condition of a resource is known; nil = it no longer exists. Its
// actions are settled only when it is VALID or no longer exists.
func (p *replayRun) settle(addr string, as *Entry) {
	if as == nil || as.LastSeen == nil {
		delete(p.snapshot.Unsettled, addr)
	}
	switch {
	case p.done == nil: // only a command that resumes a killed run needs to know what that run had done
	case as == nil:
		p.done[addr] = ""
	default:
		p.done[addr] = as.Pin()
	}
	p.acted = slices.DeleteFunc(p.acted, func(a string) bool { return a == addr })
}

// result returns the snapshot to be written, with the run in its list.
func (p *replayRun) result(status Status) Snapshot {
	s := p.snapshot.Clone()
	a := Applied{Plan: p.begin.Plan, Run: p.begin.Run, At: p.began, Status: status, InFlight: slices.Clone(p.inFlight),
		Watch: p.begin.By.Command == actions.WatchCommand, Serial: s.Serial, By: p.begin.By.Lasting(),
		Rounds: slices.Clone(p.rounds)}
	if status == StatusDied {
		if a.Moved = p.moved; len(p.done) > 0 {
			a.Done = maps.Clone(p.done)
		}
		a.Begun, a.Failed = each(p.started), each(p.failed)
	}
	if s.Pins != nil {
		s.Pins = s.NeededPins(s.Pins)
	}
	s.Applied = remembered(append(s.Applied, a))
	return s
}

// each returns a list sorted, with each of its elements once.
func each(list []string) []string { return slices.Compact(slices.Sorted(slices.Values(list))) }

// remembered removes the oldest runs if there are too many: repairs before runs that people
// have applied. The last run stays: by it a recovery knows which journal was folded in.
func remembered(list []Applied) []Applied {
	for len(list) > MaxApplied {
		oldest := max(0, slices.IndexFunc(list[:len(list)-1], func(a Applied) bool { return a.Watch }))
		list = slices.Delete(list, oldest, oldest+1)
	}
	return list
}

// replay applies a journal that an earlier command left behind to the state. The Recovery
// is nil when the state file already has all facts of the journal.
func replay(at storage, base Snapshot, data []byte) (s Snapshot, rec *Recovery, err error) {
	if base.Lineage == "" {
		return base, nil, refuse(ErrDamaged, "The state file is gone",
			"%s does not exist, but the journal %s of an apply does: the state file was lost or moved after that apply began. Nothing "+
				"was changed. `deployster state restore` restores the copy that the journal continues; without one, move "+
				"the journal.", at.State,
			at.Journal)
	}
	records, _, err := decodeJournal(data)
	if err != nil {
		return base, nil, damagedJournal(at, err)
	}
	if records, err = openRecords(at, records); err != nil {
		return base, nil, err
	}
	if len(records) == 0 {
		// The crash came before the first record was stored: no action was begun.
		return base, nil, nil
	}
	b := records[0].Begin
	if records[0].Kind != kindBegin || b == nil {
		return base, nil, refuse(ErrDamaged, "The journal is damaged", "%s does not name its state. Nothing was changed.", at.Journal)
	}
	if b.Format > Format {
		return base, nil, refuse(ErrNewer, "The journal is of a newer deployster",
			"%s has the format %d, and this deployster knows %d. Nothing was changed. Use the version of deployster that wrote it, or a "+
				"later one.",
			at.Journal, b.Format, Format)
	}
	if err := belongs(at, base, *b); err != nil {
		return base, nil, err
	}
	if n := len(base.Applied); n > 0 && base.Applied[n-1].Run == b.Run {
		return base, nil, nil // folded in already; only the removal of the journal was interrupted
	}
	run := newReplay(base, *b, records[0].Time)
	run.done = map[string]string{}
	for _, r := range records[1:] {
		if r.Kind == kindValid && r.Entry == nil {
			return base, nil, refuse(ErrDamaged, "The journal is damaged", "%s: record %d has no content. Nothing was changed.", at.Journal,
				r.Seq)
		}
		if _, err := run.snapshot.Moved(r.Moves); err != nil {
			return base, nil, refuse(ErrDamaged, "The journal is damaged", "%s: record %d moves what cannot be moved, %s. Nothing was "+
				"changed.",
				at.Journal, r.Seq, err)
		}
		run.apply(r)
	}
	return run.result(StatusDied), &Recovery{By: b.By, Plan: b.Plan, Began: run.began, InFlight: run.inFlight, Unconfirmed: run.acted}, nil
}

// belongs returns an error if a journal does not continue this very state file.
func belongs(at storage, base Snapshot, b begin) error {
	if base.Lineage != b.Lineage {
		return refuse(ErrForeign, "The journal belongs to another state",
			"%s continues the lineage %s, and %s has the lineage %s. Nothing was changed. Restore the file that belongs to the "+
				"other.", at.Journal, b.Lineage, at.State, base.Lineage)
	}
	folded := len(base.Applied) > 0 && base.Applied[len(base.Applied)-1].Run == b.Run
	if base.Serial != b.Serial && !folded {
		return refuse(ErrForeign, "The journal belongs to another version of the state",
			"%s continues the serial %d, and %s has the serial %d: the state file was replaced after that apply began. Nothing was "+
				"changed. Restore serial %d, or move the journal away to forget its records.", at.Journal, b.Serial, at.State,
			base.Serial, b.Serial)
	}
	return nil
}
