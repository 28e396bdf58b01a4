package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/creachadair/jrpc2"
	"github.com/creachadair/jrpc2/channel"
	"github.com/creachadair/jrpc2/handler"

	"deployster/lsp/internal/check"
	"deployster/lsp/internal/language"
	"deployster/lsp/internal/project"
	"deployster/lsp/internal/wire"
)

// The codes of errors that the protocol adds to those of JSON-RPC.
const (
	codeNotInitialized jrpc2.Code = -32002
	codeCancelled      jrpc2.Code = -32800
	codeFailed         jrpc2.Code = -32803
)

// Options declare a server.
type Options struct {
	Env   check.Env
	Delay time.Duration // from a change to the check of it
	Watch time.Duration // between two checks whether the client's process lives
}

// DefaultOptions returns those of a server for people.
func DefaultOptions(env check.Env) Options {
	return Options{Env: env, Delay: 150 * time.Millisecond, Watch: 3 * time.Second}
}

// Server is the server of one client.
type Server struct {
	o        Options
	project  *project.Project
	language *language.Language
	checker  *checker

	snippets   atomic.Bool // the client takes them
	watches    atomic.Bool // the client can watch files
	background sync.WaitGroup

	initialized, shut bool // what the client has sent; of the assigner
}

// ErrEarlyExit is the error of a client that ends the server without a shutdown.
var ErrEarlyExit = errors.New("the client has sent exit before shutdown")

// Serve serves a client until it wants no more, its connection or its process ends, or the context does.
func Serve(ctx context.Context, in io.Reader, out io.WriteCloser, o Options) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	p := project.New(o.Env.Cache)
	s := &Server{o: o, project: p, language: language.New(), checker: newChecker(o, p)}
	rpc := jrpc2.NewServer(assigner{s, stop}, &jrpc2.ServerOptions{AllowPush: true, DisableBuiltin: true, Concurrency: 256})
	s.checker.publish = func(d wire.Diagnostics) {
		_ = rpc.Notify(ctx, "textDocument/publishDiagnostics", d) // without a client nobody misses it
	}
	rpc.Start(channel.LSP(in, out))
	s.background.Go(func() { s.checker.run(ctx) })
	ended := make(chan error, 1)
	go func() { ended <- rpc.Wait() }()
	var err error
	select {
	case err = <-ended:
	case <-ctx.Done():
		if err = context.Cause(ctx); errors.Is(err, errExit) {
			err = nil
		}
		rpc.Stop()
	}
	stop(nil)
	s.background.Wait()
	return err
}

// errExit ends a server as its client wants.
var errExit = errors.New("exit")

// assigner gives each method its handler.
type assigner struct {
	s    *Server
	stop context.CancelCauseFunc
}

// Assign implements jrpc2.Assigner. It is called in the order of the messages, while what they request may be done
// concurrently: so it is here that the life of the server is followed.
func (a assigner) Assign(_ context.Context, method string) jrpc2.Handler {
	s := a.s
	switch method {
	case "exit":
		why := ErrEarlyExit
		if s.shut {
			why = errExit
		}
		return func(context.Context, *jrpc2.Request) (any, error) {
			a.stop(why)
			return nil, nil
		}
	case "initialize":
		if s.initialized {
			return refused(jrpc2.InvalidRequest, "initialize comes once")
		}
		s.initialized = true
		return guarded(func(_ context.Context, in wire.Initialize) (any, error) { return s.initialize(in, a.stop), nil })
	case "shutdown":
		s.shut = true
		return nothing
	case "$/cancelRequest":
		return guarded(func(ctx context.Context, in wire.Cancel) (any, error) {
			jrpc2.ServerFromContext(ctx).CancelRequest(string(in.ID))
			return nil, nil
		})
	}
	h := s.handler(method)
	switch {
	case h == nil && strings.HasPrefix(method, "$/"):
		return nothing // anybody may omit them
	case h == nil:
		return nil
	case s.shut:
		return refused(jrpc2.InvalidRequest, "the server was shut down")
	case !s.initialized:
		return refused(codeNotInitialized, "the first request must be initialize")
	}
	return h
}

// nothing is the handler of what needs nothing done.
func nothing(context.Context, *jrpc2.Request) (any, error) { return nil, nil }

func refused(code jrpc2.Code, why string) jrpc2.Handler {
	return func(context.Context, *jrpc2.Request) (any, error) { return nil, jrpc2.Errorf(code, "%s", why) }
}

func (s *Server) handler(method string) jrpc2.Handler {
	switch method {
	case "initialized":
		return guarded(s.ready)
	case "textDocument/didOpen":
		return guarded(s.opened)
	case "textDocument/didChange":
		return guarded(s.changed)
	case "textDocument/didClose":
		return guarded(s.closed)
	case "textDocument/didSave":
		return guarded(s.saved)
	case "workspace/didChangeWatchedFiles", "workspace/didChangeConfiguration":
		return guarded(s.watched)
	case "workspace/didChangeWorkspaceFolders":
		return guarded(s.folders)
	case "textDocument/completion":
		return guarded(s.complete)
	case "textDocument/hover":
		return guarded(s.hover)
	case "textDocument/signatureHelp":
		return guarded(s.signature)
	case "textDocument/definition":
		return guarded(s.definition)
	case "textDocument/references":
		return guarded(s.references)
	case "textDocument/documentHighlight":
		return guarded(s.highlights)
	case "textDocument/prepareRename":
		return guarded(s.prepareRename)
	case "textDocument/rename":
		return guarded(s.rename)
	case "textDocument/documentSymbol":
		return guarded(s.symbols)
	case "workspace/symbol":
		return guarded(s.findSymbols)
	case "textDocument/formatting":
		return guarded(s.format)
	case "textDocument/codeAction":
		return guarded(s.actions)
	}
	return nil
}

// guarded returns the handler of a function. A panic is an error of one request, and a request that was ended
// is answered as the protocol requires.
func guarded[In any](f func(context.Context, In) (any, error)) jrpc2.Handler {
	return handler.New(func(ctx context.Context, in In) (out any, err error) {
		defer func() {
			if p := recover(); p != nil {
				log.Printf("a fault of deployster-lsp: %v\n%s", p, debug.Stack())
				out, err = nil, jrpc2.Errorf(jrpc2.InternalError, "a fault of deployster-lsp: %v", p)
			}
		}()
		if ctx.Err() == nil {
			out, err = f(ctx, in)
		}
		if ctx.Err() != nil {
			return nil, jrpc2.Errorf(codeCancelled, "the client has ended the request")
		}
		return out, err
	})
}

// initialize answers the first request of a client.
func (s *Server) initialize(in wire.Initialize, stop context.CancelCauseFunc) any {
	s.snippets.Store(in.Capabilities.TextDocument.Completion.Item.Snippets)
	s.watches.Store(in.Capabilities.Workspace.Watched.Dynamic)
	folders := paths(in.Folders)
	if root := wire.Path(in.RootURI); len(folders) == 0 && root != "" {
		folders = []string{root}
	}
	s.project.Folders(func([]string) []string { return folders })
	if in.ProcessID != nil && *in.ProcessID > 1 {
		go watchProcess(*in.ProcessID, s.o.Watch, stop)
	}
	return map[string]any{
		"serverInfo": map[string]string{"name": "deployster-lsp", "version": s.o.Env.Version},
		"capabilities": map[string]any{
			"positionEncoding":           "utf-16",
			"textDocumentSync":           map[string]any{"openClose": true, "change": 2, "save": true},
			"completionProvider":         map[string]any{"triggerCharacters": []string{".", "\"", "[", "{"}},
			"hoverProvider":              true,
			"signatureHelpProvider":      map[string]any{"triggerCharacters": []string{"(", ","}},
			"definitionProvider":         true,
			"referencesProvider":         true,
			"documentHighlightProvider":  true,
			"documentSymbolProvider":     true,
			"workspaceSymbolProvider":    true,
			"documentFormattingProvider": true,
			"renameProvider":             map[string]any{"prepareProvider": true},
			"codeActionProvider":         map[string]any{"codeActionKinds": []string{wire.QuickFix}},
			"workspace": map[string]any{
				"workspaceFolders": map[string]any{"supported": true, "changeNotifications": true}},
		},
	}
}

// watchProcess ends the server when the client's process has ended, though its connection is still open.
func watchProcess(pid int, every time.Duration, stop context.CancelCauseFunc) {
	for !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		time.Sleep(every)
	}
	stop(fmt.Errorf("the process %d of the client has ended", pid))
}

func paths(folders []wire.Folder) (list []string) {
	for _, f := range folders {
		if path := wire.Path(f.URI); path != "" {
			list = append(list, path)
		}
	}
	return list
}

// ready requests the client to watch the files that count.
func (s *Server) ready(ctx context.Context, _ struct{}) (any, error) {
	if !s.watches.Load() {
		return nil, nil
	}
	rpc := jrpc2.ServerFromContext(ctx)
	var watchers []map[string]string
	for _, glob := range []string{"**/*.hcl", "**/*.hcl.json", "**/.deployster/types/*.json"} {
		watchers = append(watchers, map[string]string{"globPattern": glob})
	}
	go func() { // the answer comes after this notification
		_, err := rpc.Callback(context.WithoutCancel(ctx), "client/registerCapability", map[string]any{"registrations": []map[string]any{{
			"id": "files", "method": "workspace/didChangeWatchedFiles", "registerOptions": map[string]any{"watchers": watchers}}}})
		if err != nil && ctx.Err() == nil {
			log.Printf("the client watches no files: %v", err)
		}
	}()
	return nil, nil
}

func (s *Server) folders(_ context.Context, in wire.FoldersChanged) (any, error) {
	removed := paths(in.Event.Removed)
	s.project.Folders(func(now []string) []string {
		now = slices.DeleteFunc(slices.Clone(now), func(f string) bool { return slices.Contains(removed, f) })
		return append(now, paths(in.Event.Added)...)
	})
	s.checker.all()
	return nil, nil
}

// file returns a file that a request is about.
func (s *Server) file(v *project.View, uri string) (*project.File, string, error) {
	path := wire.Path(uri)
	if path == "" {
		return nil, "", jrpc2.Errorf(jrpc2.InvalidParams, "%q is not the URI of a file", uri)
	}
	f := v.File(path)
	if f == nil {
		return nil, "", jrpc2.Errorf(jrpc2.InvalidParams, "%s cannot be read", path)
	}
	return f, filepath.Dir(path), nil
}
