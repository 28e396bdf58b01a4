package server

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creachadair/jrpc2"
	"github.com/creachadair/jrpc2/channel"

	"deployster/lsp/internal/check"
	"deployster/lsp/internal/text"
	"deployster/lsp/internal/wire"
)

// editor is an editor with a server of its own.
type editor struct {
	t    testing.TB
	dir  string
	rpc  *jrpc2.Client
	end  func()
	done chan error

	mu   sync.Mutex
	seen map[string][]wire.Diagnostic // by the name of the file
	news chan struct{}
	open map[string]string
}

// cursor marks a place in the texts of these tests.
const cursor = "‸"

// start opens an editor in a folder with files, by their names.
func start(t testing.TB, files map[string]string) *editor {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, src := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(src), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	e := &editor{t: t, dir: dir, seen: map[string][]wire.Diagnostic{}, news: make(chan struct{}, 1), done: make(chan error, 1),
		open: map[string]string{}}
	toServer, fromEditor := io.Pipe()
	toEditor, fromServer := io.Pipe()
	o := DefaultOptions(check.Env{Version: "0.1.0", Cache: filepath.Join(dir, ".cache")})
	o.Delay, o.Watch = time.Millisecond, 10*time.Millisecond
	go func() {
		e.done <- Serve(t.Context(), toServer, fromServer, o)
		_ = fromServer.Close() // the client reads to the end
	}()
	e.end = sync.OnceFunc(func() { _ = fromEditor.Close() })
	e.rpc = jrpc2.NewClient(channel.LSP(toEditor, fromEditor), &jrpc2.ClientOptions{
		OnNotify:   e.notified,
		OnCallback: func(context.Context, *jrpc2.Request) (any, error) { return nil, nil },
	})
	t.Cleanup(func() {
		e.end()
		_ = e.rpc.Close()
	})
	var out struct {
		Capabilities map[string]json.RawMessage `json:"capabilities"`
	}
	e.call("initialize", map[string]any{"processId": os.Getpid(), "rootUri": wire.URI(dir), "capabilities": map[string]any{
		"workspace": map[string]any{"didChangeWatchedFiles": map[string]any{"dynamicRegistration": true}}}}, &out)
	if len(out.Capabilities) < 10 {
		t.Errorf("capabilities %s", out.Capabilities)
	}
	e.notify("initialized", map[string]any{})
	return e
}

func (e *editor) notified(r *jrpc2.Request) {
	if r.Method() != "textDocument/publishDiagnostics" {
		return
	}
	var d wire.Diagnostics
	if err := r.UnmarshalParams(&d); err != nil {
		e.t.Error(err)
	}
	e.mu.Lock()
	e.seen[strings.TrimPrefix(wire.Path(d.URI), e.dir+"/")] = d.Diagnostics
	e.mu.Unlock()
	select {
	case e.news <- struct{}{}:
	default:
	}
}

func (e *editor) call(method string, in, out any) {
	e.t.Helper()
	if err := e.try(method, in, out); err != nil {
		e.t.Fatalf("%s: %v", method, err)
	}
}

func (e *editor) try(method string, in, out any) error {
	ctx, cancel := context.WithTimeout(e.t.Context(), time.Minute)
	defer cancel()
	answer, err := e.rpc.Call(ctx, method, in)
	if err != nil {
		return err
	}
	return answer.UnmarshalResult(out)
}

func (e *editor) notify(method string, in any) {
	e.t.Helper()
	if err := e.rpc.Notify(e.t.Context(), method, in); err != nil {
		e.t.Fatal(err)
	}
}

func (e *editor) uri(name string) string { return wire.URI(filepath.Join(e.dir, name)) }

// edit opens a text, or replaces it, and returns the place of the cursor in it.
func (e *editor) edit(name, src string) map[string]any {
	before, after, marked := strings.Cut(src, cursor)
	src = before + after
	if _, open := e.open[name]; open {
		e.notify("textDocument/didChange", map[string]any{"textDocument": map[string]any{"uri": e.uri(name), "version": 2},
			"contentChanges": []map[string]any{{"text": src}}})
	} else {
		e.notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{"uri": e.uri(name), "languageId": "hcl", "version": 1,
			"text": src}})
	}
	e.open[name] = src
	at := map[string]any{"textDocument": map[string]any{"uri": e.uri(name)}}
	if marked {
		at["position"] = text.New([]byte(src)).Position(len(before))
	}
	return at
}

// text returns the text of a file as the editor has it.
func (e *editor) text(name string) string {
	if src, open := e.open[name]; open {
		return src
	}
	src, err := os.ReadFile(filepath.Join(e.dir, name))
	if err != nil {
		e.t.Fatal(err)
	}
	return string(src)
}

// part returns a part of a text.
func (e *editor) part(name string, r wire.Range) string {
	l := text.New([]byte(e.text(name)))
	return string(l.Text[l.Offset(r.Start):l.Offset(r.End)])
}

// applied returns the files after edits, by their names.
func (e *editor) applied(w wire.WorkspaceEdit) map[string]string {
	out := map[string]string{}
	for uri, list := range w.Changes {
		name := strings.TrimPrefix(wire.Path(uri), e.dir+"/")
		out[name] = apply(e.text(name), list)
	}
	return out
}

// apply returns a text after edits, all of which are of the text before.
func apply(src string, list []wire.TextEdit) string {
	l := text.New([]byte(src))
	type cut struct {
		start, end int
		text       string
	}
	var cuts []cut
	for _, one := range list {
		c := cut{l.Offset(one.Range.Start), l.Offset(one.Range.End), one.NewText}
		i := len(cuts)
		for i > 0 && cuts[i-1].start > c.start {
			i--
		}
		cuts = append(cuts[:i], append([]cut{c}, cuts[i:]...)...)
	}
	var b strings.Builder
	at := 0
	for _, c := range cuts {
		b.WriteString(src[at:c.start] + c.text)
		at = c.end
	}
	return b.String() + src[at:]
}

// wait waits until the diagnostics of a file are as wanted.
func (e *editor) wait(name string, good func([]wire.Diagnostic) bool) []wire.Diagnostic {
	e.t.Helper()
	end := time.After(time.Minute)
	for {
		e.mu.Lock()
		list, told := e.seen[name]
		e.mu.Unlock()
		if told && good(list) {
			return list
		}
		select {
		case <-e.news:
		case <-end:
			e.t.Fatalf("the diagnostics of %s are %+v", name, list)
		}
	}
}

// waitFor waits for one diagnostic with a text.
func (e *editor) waitFor(name, message string) wire.Diagnostic {
	e.t.Helper()
	has := func(d wire.Diagnostic) bool { return strings.Contains(d.Message, message) }
	for _, d := range e.wait(name, func(list []wire.Diagnostic) bool { return len(list) > 0 && has(list[0]) }) {
		if has(d) {
			return d
		}
	}
	return wire.Diagnostic{}
}

func none(list []wire.Diagnostic) bool { return len(list) == 0 }

// labels returns what is offered at a place.
func (e *editor) labels(at map[string]any) map[string]wire.Completion {
	e.t.Helper()
	var out wire.Completions
	e.call("textDocument/completion", at, &out)
	all := map[string]wire.Completion{}
	for _, item := range out.Items {
		all[item.Label] = item
	}
	return all
}
