package digest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash"
	"io"
	"reflect"

	"deployster/internal/base/parallel"
	"deployster/protocol"
)

// Part is a resource of a plan. Init, the answer of its image to init, is large and the
// same for most resources, so it is separate from the rest.
type Part struct {
	Init protocol.Type
	Rest any
}

// Of returns the hash of the rest of a plan, and then of the parts at the addresses, in the
// order of addresses. The parts are hashed one by one on all processors, at the same time as
// the rest. The error is that of the encoder.
func Of(rest any, addresses []string, part func(addr string) Part) (string, error) {
	all := sha256.New()
	encoded := make(chan error, 1)
	go func() { encoded <- plainEncoder(all).Encode(rest) }()
	sums, failed := make([][sha256.Size]byte, len(addresses)), make([]error, len(addresses))
	parallel.For(len(addresses), func(from, to int) {
		h := newHasher()
		for i := from; i < to; i++ {
			sums[i], failed[i] = h.sum(addresses[i], part(addresses[i]))
		}
	})
	err := errors.Join(<-encoded, errors.Join(failed...))
	for i := range sums {
		all.Write(sums[i][:])
	}
	return hex.EncodeToString(all.Sum(nil)[:16]), err
}

// hasher hashes parts. It encodes the answer to init only if it differs from that of the
// previous part.
type hasher struct {
	hash hash.Hash
	enc  *json.Encoder

	last    protocol.Type
	lastSum []byte // nil = no part was hashed yet
}

func newHasher() *hasher {
	h := &hasher{hash: sha256.New()}
	h.enc = plainEncoder(h.hash)
	return h
}

func (h *hasher) sum(addr string, p Part) (sum [sha256.Size]byte, err error) {
	if h.lastSum == nil || !reflect.DeepEqual(p.Init, h.last) {
		h.hash.Reset()
		err = h.enc.Encode(p.Init)
		h.last, h.lastSum = p.Init, h.hash.Sum(nil)
	}
	h.hash.Reset()
	h.hash.Write(h.lastSum)
	err = errors.Join(err, h.enc.Encode(addr), h.enc.Encode(p.Rest))
	h.hash.Sum(sum[:0])
	return sum, err
}

func plainEncoder(w io.Writer) *json.Encoder {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc
}
