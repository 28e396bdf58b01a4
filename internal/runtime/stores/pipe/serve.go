package pipe

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"deployster/internal/base/sharedlog"
)

// Serve answers calls until in ends, as it does when the client ends. A read error ends Serve too.
func Serve(s sharedlog.Store, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	srv := server{store: s, out: json.NewEncoder(out), calls: map[uint64]context.CancelFunc{}}
	for in := json.NewDecoder(in); ; {
		var r request
		if err := in.Decode(&r); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if r.Op == opCancel {
			srv.cancel(r.ID)
			continue
		}
		work, stop := context.WithCancel(ctx)
		srv.mu.Lock()
		srv.calls[r.ID] = stop
		srv.mu.Unlock()
		go srv.answer(work, r)
	}
}

type server struct {
	store sharedlog.Store

	mu    sync.Mutex
	out   *json.Encoder
	calls map[uint64]context.CancelFunc
}

func (s *server) cancel(id uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if stop := s.calls[id]; stop != nil {
		stop()
	}
}

func (s *server) answer(ctx context.Context, r request) {
	a := answer{ID: r.ID}
	var err error
	switch r.Op {
	case opCreate:
		err = s.store.Create(ctx, r.Key, r.Data)
	case opGet:
		a.Data, err = s.store.Get(ctx, r.Key)
	case opList:
		a.Keys, err = s.store.List(ctx, r.Key)
	case opDelete:
		err = s.store.Delete(ctx, r.Key)
	default:
		err = errors.New("an unknown call")
	}
	a.fail(err)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[r.ID]()
	delete(s.calls, r.ID)
	_ = s.out.Encode(a) // if the client has ended, the next read ends this program
}
