package plan

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
	"deployster/protocol"
)

// Fingerprint returns a plan's id: the hash of its content without the id itself. Its
// resources are hashed one by one, on all processors, and the rest meanwhile.
func Fingerprint(p *Plan) string {
	blank, all := *p, sha256.New()
	blank.ID, blank.Resources = "", nil
	rest := make(chan error, 1)
	go func() { rest <- plainEncoder(all).Encode(&blank) }()
	addresses := slices.Sorted(maps.Keys(p.Resources))
	sums, failed := make([][sha256.Size]byte, len(addresses)), make([]error, len(addresses))
	parallel.For(len(addresses), func(from, to int) {
		h := newHasher()
		for i := from; i < to; i++ {
			sums[i], failed[i] = h.step(addresses[i], p.Resources[addresses[i]])
		}
	})
	err := errors.Join(<-rest, errors.Join(failed...))
	for i := range sums {
		all.Write(sums[i][:])
	}
	if err != nil {
		return "" // what cannot be encoded has no id, and Write says why
	}
	return hex.EncodeToString(all.Sum(nil)[:16])
}

// hasher hashes steps. What their images said in init is the same for most, and
// large: it is encoded when it is another one than before.
type hasher struct {
	hash  hash.Hash
	enc   *json.Encoder
	blank Step // the step, without that

	last    protocol.Type
	lastSum []byte // nil = there is none yet
}

func newHasher() *hasher {
	h := &hasher{hash: sha256.New()}
	h.enc = plainEncoder(h.hash)
	return h
}

func (h *hasher) step(addr string, s *Step) (sum [sha256.Size]byte, err error) {
	h.blank = Step{}
	if s != nil { // a damaged file may have none
		h.blank = *s
	}
	if h.lastSum == nil || !reflect.DeepEqual(h.blank.Init, h.last) {
		h.hash.Reset()
		err = h.enc.Encode(h.blank.Init)
		h.last, h.lastSum = h.blank.Init, h.hash.Sum(nil)
	}
	h.blank.Init = protocol.Type{}
	h.hash.Reset()
	h.hash.Write(h.lastSum)
	err = errors.Join(err, h.enc.Encode(addr), h.enc.Encode(&h.blank))
	h.hash.Sum(sum[:0])
	return sum, err
}

func plainEncoder(w io.Writer) *json.Encoder {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc
}
