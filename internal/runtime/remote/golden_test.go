package remote

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"deployster/internal/runtime/claims"
	"deployster/internal/runtime/remote/frame"
	"deployster/internal/runtime/runner"
)

var update = flag.Bool("update", false, "write testdata/messages.txt")

// The agents that users have pushed to their registries serve for as long as their AgentVersion is
// the one of deployster-kube. A change of the messages that such an agent does not understand, or
// whose absence there changes what is done, raises AgentVersion. Then, or after another change, this
// file is written again with -update.
func TestMessages_KeepTheAgentVersion(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	fmt.Fprintf(&text, "%s\n\nkinds\n", AgentVersion)
	for _, kind := range []struct {
		name string
		kind frame.Kind
	}{{"hello", kindHello}, {"ping", kindPing}, {"run", kindRun}, {"cancel", kindCancel}, {"out", kindOut}, {"taken", kindTaken},
		{"ended", kindEnded}, {"recorded", kindRecorded}, {"running", kindRunning}, {"adopt", kindAdopt}, {"is open", kindIsOpen},
		{"discard", kindDiscard}, {"resolve", kindResolve}, {"done", kindDone}, {"refused", kindRefused}, {"ship", kindShip}, {"want", kindWant},
		{"piece", kindPiece}, {"look", kindLook}, {"bring", kindBring}, {"launch", kindLaunch}, {"signal", kindSignal}, {"waiting", kindWaiting},
		{"inspect", kindInspect}, {"claim", kindClaim}, {"guard", kindGuard}} {
		fmt.Fprintf(&text, "  %d %s\n", kind.kind, kind.name)
	}
	for _, message := range []any{Hello{}, Welcome{}, runRequest{}, waiting{}, ending{}, answer{}, runner.Shipment{}, want{}, Files{}, []Plug{}, Inspection{}, claims.Request{},
		GuardRequest{}} {
		of := reflect.TypeOf(message)
		fmt.Fprintf(&text, "\n%s\n", of)
		describe(&text, of, "  ", map[reflect.Type]bool{})
	}
	const path = "testdata/messages.txt"
	if *update {
		if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil || string(want) != text.String() {
		t.Errorf("the messages are no longer those of %s (%v). They are now:\n%s", AgentVersion, err, &text)
	}
}

// describe writes the fields of a type, as they are in JSON.
func describe(to *strings.Builder, of reflect.Type, indent string, within map[reflect.Type]bool) {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice || of.Kind() == reflect.Map {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct || of.PkgPath() == "time" || within[of] {
		return
	}
	within[of] = true
	defer delete(within, of)
	for i := range of.NumField() {
		f := of.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || !f.IsExported() && !f.Anonymous || f.Type.Kind() == reflect.Func || f.Type.Kind() == reflect.Interface {
			continue
		}
		if name == "" {
			name = f.Name
		}
		fmt.Fprintln(to, strings.TrimRight(indent+name+" "+f.Type.String()+" "+options, " "))
		describe(to, f.Type, indent+"  ", within)
	}
}
