package change

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash"
	"io"
	"maps"
	"reflect"
	"slices"

	"deployster/internal/base/parallel"
	"deployster/plan/observe"
	"deployster/protocol"
)

// hashed is a step as the id of its plan covers it.
type hashed struct {
	*Step
	Change    observe.Change `json:"change"`
	Certainty Certainty      `json:"certainty,omitempty"`
	Part      Part           `json:"part"`
	Old       *hashed        `json:"old,omitempty"`
}

func hashedStep(s *Step) *hashed {
	if s == nil {
		return nil
	}
	return &hashed{Step: s, Change: s.Change(), Certainty: s.Certainty, Part: s.Part, Old: hashedStep(s.Old())}
}

// Digest returns the id of a plan: the hexadecimal hash of the rest of the plan, and then of
// its steps in the order of their addresses. The steps are hashed one by one on all
// processors, at the same time as the rest. The error is that of the encoder.
func Digest(rest any, steps map[string]*Step) (string, error) {
	all, addresses := sha256.New(), slices.Sorted(maps.Keys(steps))
	encoded := make(chan error, 1)
	go func() { encoded <- plainEncoder(all).Encode(rest) }()
	sums, failed := make([][sha256.Size]byte, len(addresses)), make([]error, len(addresses))
	parallel.For(len(addresses), func(from, to int) {
		h := newHasher()
		for i := from; i < to; i++ {
			sums[i], failed[i] = h.sum(addresses[i], steps[addresses[i]])
		}
	})
	err := errors.Join(<-encoded, errors.Join(failed...))
	for i := range sums {
		all.Write(sums[i][:])
	}
	return hex.EncodeToString(all.Sum(nil)[:16]), err
}

// hasher hashes steps. It encodes the answer to init only if it differs from that of the
// previous step.
type hasher struct {
	hash hash.Hash
	enc  *json.Encoder

	init    protocol.Type // of the step that is hashed
	last    protocol.Type
	lastSum []byte // nil = no step was hashed yet

	step Step // a copy of the step that is hashed, without its init
}

func newHasher() *hasher {
	h := &hasher{hash: sha256.New()}
	h.enc = plainEncoder(h.hash)
	return h
}

// sum hashes a step; nil, as in a damaged file, counts as an empty one.
func (h *hasher) sum(addr string, s *Step) (sum [sha256.Size]byte, err error) {
	if h.step = (Step{}); s != nil {
		h.step = *s
	}
	h.init, h.step.Init = h.step.Init, protocol.Type{}
	if h.lastSum == nil || !reflect.DeepEqual(&h.init, &h.last) {
		h.hash.Reset()
		err = h.enc.Encode(&h.init)
		h.last, h.lastSum = h.init, h.hash.Sum(nil)
	}
	h.hash.Reset()
	h.hash.Write(h.lastSum)
	err = errors.Join(err, h.enc.Encode(addr), h.enc.Encode(hashedStep(&h.step)))
	h.hash.Sum(sum[:0])
	return sum, err
}

func plainEncoder(w io.Writer) *json.Encoder {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc
}
