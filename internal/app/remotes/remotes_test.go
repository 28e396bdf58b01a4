package remotes

import (
	"context"
	"errors"
	"strings"
	"testing"

	"deployster/config"
	"deployster/internal/app/stateedit"
	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/state"
)

// two returns a project that publishes, and one that uses vpc, and asks for an output that is not there yet.
func two(t *testing.T) (net, web *project) {
	t.Helper()
	net = newProject(t, "")
	web = newProject(t, "remote_state \"net\" { url = \""+net.dir+"/deployster.state.json\" }\n"+
		"locals { all = [remote_state.net.outputs.vpc, try(remote_state.net.outputs.later, \"none\")] }\n")
	return net, web
}

// A plan is stale when an output that it uses has another value, is gone or has come, and not because of others.
func TestFresh_OnlyWhatIsUsedCounts(t *testing.T) {
	t.Parallel()
	net, web := two(t)
	net.publish(state.StatusOK, &state.Exports{}, map[string]string{"vpc": `"v-1"`, "other": "1"})
	used, why := web.used()
	if why != "" || len(used["net"].Outputs) != 1 || len(used["net"].Missing) != 1 {
		t.Fatalf("%+v %q", used, why)
	}
	for _, c := range []struct {
		outputs map[string]string
		want    string
	}{
		{map[string]string{"vpc": `"v-1"`, "other": "2", "new": "3"}, ""},
		{map[string]string{"vpc": `"v-2"`}, "plan is stale: vpc of remote_state.net changed"},
		{map[string]string{"other": "1"}, "plan is stale: vpc of remote_state.net changed"},
		{map[string]string{"vpc": `"v-1"`, "later": "3"}, "plan is stale: later of remote_state.net changed"},
		{map[string]string{"vpc": `"v-1"`}, ""},
	} {
		net.publish(state.StatusOK, &state.Exports{}, c.outputs)
		warnings, err := Fresh(web.open(), used)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) || len(warnings) > 0 {
			t.Errorf("%v: %v, %v", c.outputs, err, warnings)
		}
		changed := Changed(web.open(), used)
		if (len(changed) > 0) != (c.want != "") || len(changed) > 0 && !strings.Contains(changed[0].Detail, " changed.") {
			t.Errorf("%v: afterwards %v", c.outputs, changed)
		}
	}
}

// A lower serial than one that was used is refused by plan and apply, as is a plan whose state was put back since.
func TestCheck_RefusesOlderOutputs(t *testing.T) {
	t.Parallel()
	net, web := two(t)
	net.publish(state.StatusOK, &state.Exports{}, map[string]string{"vpc": `"v-1"`})
	used, _ := web.used()
	w := web.open()
	place := w.Place(used["net"].URL).String()
	at := func(lineage string, serial uint64) state.Snapshot {
		return state.Snapshot{Read: map[string]state.Read{place: {Lineage: lineage, Serial: serial}}}
	}
	lineage := used["net"].Lineage
	for want, prior := range map[string]state.Snapshot{"": at(lineage, 1), "Older outputs than those that were used": at(lineage, 2)} {
		err := Check(w, w.Place("own.json"), prior, used)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for _, serial := range []uint64{0, 9} {
		if err := Check(w, w.Place("own.json"), at("another", serial), used); err == nil || !strings.Contains(err.Error(), "Another state") {
			t.Errorf("a state with another lineage: %v", err)
		}
	}
	if err := Check(w, w.Place(place), state.Snapshot{}, used); err == nil || !strings.Contains(err.Error(), "One state") {
		t.Errorf("its own state: %v", err)
	}
	planned := used["net"]
	planned.Serial = 2
	if _, err := Fresh(w, map[string]config.RemoteState{"net": planned}); err == nil || !strings.Contains(err.Error(), "Older outputs") {
		t.Errorf("a plan of a later serial: %v", err)
	}
	planned.Serial, planned.Lineage = 1, "another"
	if _, err := Fresh(w, map[string]config.RemoteState{"net": planned}); err == nil || !strings.Contains(err.Error(), "another state now") {
		t.Errorf("a plan of another state: %v", err)
	}
	if list := Changed(w, map[string]config.RemoteState{"net": planned}); len(list) != 1 {
		t.Errorf("afterwards: %v", list)
	}
	reads := Reads(w, map[string]config.RemoteState{"a": {URL: place, Lineage: "l", Serial: 3}, "b": {URL: place, Lineage: "l", Serial: 2}})
	if reads[place].Serial != 3 {
		t.Errorf("two blocks of one state: %v", reads)
	}
}

// What was left incomplete there is said by plan, and by an apply that finds it so.
func TestRemote_WarnsOfAnIncompleteRun(t *testing.T) {
	t.Parallel()
	net, web := two(t)
	net.publish(state.StatusOK, &state.Exports{}, map[string]string{"vpc": `"v-1"`})
	used, _ := web.used()
	net.publish(state.StatusIncomplete, &state.Exports{}, map[string]string{"vpc": `"v-1"`})
	warnings, err := Fresh(web.open(), used)
	if err != nil || len(warnings) != 1 || !strings.Contains(warnings[0].Detail, `ended as "incomplete"`) {
		t.Errorf("%v, %v", warnings, err)
	}
	w := web.open()
	var said listener
	w.UI = &said
	if _, err := w.Manifest(t.Context(), workspace.Inputs{}); err != nil || len(said) != 1 || said[0].Severity != diag.Warning ||
		!strings.Contains(said[0].Detail, `ended as "incomplete"`) {
		t.Errorf("%v, %v", said, err)
	}
}

// listener keeps the notes that are printed.
type listener diag.Diagnostics

func (l *listener) Diagnostics(list diag.Diagnostics) { *l = append(*l, list...) }
func (l *listener) Printf(string, ...any)             {}
func (l *listener) AskVariable(context.Context, config.Missing) (string, error) {
	return "", context.Canceled
}

// The state of another project that was begun again is accepted by forgetting what was used of the earlier one.
func TestCheck_AnotherStateIsAccepted(t *testing.T) {
	t.Parallel()
	net, web := two(t)
	net.publish(state.StatusOK, &state.Exports{}, map[string]string{"vpc": `"v-1"`})
	used, _ := web.used()
	w := web.open()
	own, place := w.StatePlaceAround(), w.Place(used["net"].URL).String()
	store, err := w.OpenState(t.Context(), own, "test")
	if err != nil {
		t.Fatal(err)
	}
	next := store.Snapshot().Clone()
	next.HasRead(map[string]state.Read{place: {Lineage: "earlier", Serial: 7}})
	if err := errors.Join(store.Replace(next), Check(w, own, store.Snapshot(), nil)); err != nil {
		t.Fatal(err)
	}
	refused := Check(w, own, store.Snapshot(), used)
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if refused == nil || !strings.Contains(refused.Error(), "deployster state rm '"+place+"'") {
		t.Fatalf("it is refused: %v", refused)
	}
	done, err := stateedit.NewEditor(w, false).Forget(t.Context(), []string{place})
	if err != nil || len(done.Forgotten) != 1 {
		t.Fatalf("%+v, %v", done, err)
	}
	now, err := w.ReadState(t.Context(), own)
	if err != nil {
		t.Fatal(err)
	}
	if err := Check(w, own, now, used); err != nil {
		t.Error(err)
	}
}
