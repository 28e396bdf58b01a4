package fakeapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"
	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"
)

// The channels of exec over a WebSocket.
const (
	channelStdin  = 0
	channelStdout = 1
	channelError  = 3
	channelClose  = 255
)

// exec connects the agent of a Pod.
func (s *Server) exec(w http.ResponseWriter, r *http.Request, q Request) {
	s.mu.Lock()
	p, refuse := s.pods[q.Name], s.b.NoWebSocket
	var at *Running
	if p != nil {
		at = s.running[string(p.UID)]
	}
	s.mu.Unlock()
	var agent Agent
	if at != nil {
		at.mu.Lock()
		if agent = at.agent; agent == nil {
			agent = at.inits[r.URL.Query().Get("container")]
		}
		at.mu.Unlock()
	}
	socket := websocket.IsWebSocketUpgrade(r)
	switch {
	case p == nil:
		reply(w, apierrors.NewNotFound(podResource, q.Name))
	case agent == nil:
		reply(w, apierrors.NewBadRequest(fmt.Sprintf("container %s not found in pod %s", r.URL.Query().Get("container"), q.Name)))
	case socket && refuse:
		reply(w, apierrors.NewForbidden(podResource, q.Name, errors.New("WebSocket is not allowed")))
	case socket:
		overWebSocket(w, r, at, agent)
	default:
		overSPDY(w, r, agent)
	}
}

// status is what exec reports at its end.
func status(err error) []byte {
	st := meta.Status{TypeMeta: meta.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: meta.StatusSuccess}
	if err != nil {
		st.Status, st.Message = meta.StatusFailure, err.Error()
	}
	content, _ := json.Marshal(st) // it can be encoded
	return content
}

func overWebSocket(w http.ResponseWriter, r *http.Request, at *Running, agent Agent) {
	up := websocket.Upgrader{Subprotocols: []string{"v5.channel.k8s.io"}}
	conn, err := up.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	s := &socket{conn: conn}
	stdin, in := io.Pipe()
	s.Reader = stdin
	defer at.track(conn.Close)()
	go s.receive(in)
	s.send(channelError, status(agent.Talk(s)))
	bye := websocket.FormatCloseMessage(websocket.CloseNormalClosure, "")
	_ = conn.WriteControl(websocket.CloseMessage, bye, time.Time{}) // it may be gone
	_ = conn.Close()
}

// socket is the stream of a program over a WebSocket.
type socket struct {
	io.Reader
	conn *websocket.Conn
	mu   sync.Mutex
}

func (s *socket) receive(in *io.PipeWriter) {
	for {
		_, m, err := s.conn.ReadMessage()
		switch {
		case err != nil:
			_ = in.CloseWithError(io.EOF) // never fails
			return
		case len(m) > 1 && m[0] == channelClose:
			_ = in.Close() // never fails
		case len(m) > 0 && m[0] == channelStdin:
			if _, err := in.Write(m[1:]); err != nil {
				return
			}
		}
	}
}

func (s *socket) send(channel byte, p []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conn.WriteMessage(websocket.BinaryMessage, append([]byte{channel}, p...)) == nil
}

func (s *socket) Write(p []byte) (int, error) {
	if !s.send(channelStdout, p) {
		return 0, io.ErrClosedPipe
	}
	return len(p), nil
}

func (s *socket) Close() error { return s.conn.Close() }

func overSPDY(w http.ResponseWriter, r *http.Request, agent Agent) {
	if _, err := httpstream.Handshake(r, w, []string{"v4.channel.k8s.io"}); err != nil {
		return
	}
	streams := make(chan httpstream.Stream, 8)
	conn := spdy.NewResponseUpgrader().UpgradeResponse(w, r, func(s httpstream.Stream, replied <-chan struct{}) error {
		go func() {
			<-replied
			streams <- s
		}()
		return nil
	})
	if conn == nil {
		return
	}
	defer conn.Close()
	by := map[string]httpstream.Stream{}
	for len(by) < 4 {
		select {
		case s := <-streams:
			by[s.Headers().Get(core.StreamType)] = s
		case <-conn.CloseChan():
			return
		}
	}
	err := agent.Talk(&pair{by[core.StreamTypeStdin], by[core.StreamTypeStdout], conn})
	_, _ = by[core.StreamTypeError].Write(status(err)) // the client may be gone
	for _, s := range by {
		_ = s.Close() // the client may be gone
	}
}

type pair struct {
	io.Reader
	io.Writer
	conn httpstream.Connection
}

func (p *pair) Close() error { return p.conn.Close() }

// track notes how to break a connection of exec, until the returned function is called.
func (r *Running) track(cut func() error) func() {
	r.mu.Lock()
	defer r.mu.Unlock()
	number := r.latest
	r.latest++
	r.cuts[number] = cut
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.cuts, number)
	}
}

// CutExec breaks all connections of exec.
func (s *Server) CutExec() {
	s.mu.Lock()
	all := make([]*Running, 0, len(s.running))
	for _, r := range s.running {
		all = append(all, r)
	}
	s.mu.Unlock()
	for _, r := range all {
		r.mu.Lock()
		for _, cut := range r.cuts {
			_ = cut() // it may be closed already
		}
		r.mu.Unlock()
	}
}
