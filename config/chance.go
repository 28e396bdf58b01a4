package config

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty/function"

	"deployster/config/funcs"
)

// chance gives timestamp, uuid and bcrypt their values while a plan is applied.
// Before that they are unknown, so that a plan never shows a value that apply
// would not use. An expression is evaluated several times in one apply, by the
// resource itself and by those that refer to it: each call in it has the same
// result every time.
type chance struct {
	now     time.Time
	results *sync.Map // of chanceCall -> string
}

// chanceCall is one call of a function in one evaluation of an expression.
type chanceCall struct {
	expr string // where it stands
	at   string // the instance of the resource or module, with each or count
	n    int    // which call of the evaluation
	args [sha256.Size]byte
}

// Applying is the manifest for the apply of a plan of it, which is known to have
// begun at a time: what is different each time has values then.
func (m *Manifest) Applying(now time.Time) *Manifest {
	applied := *m
	applied.chance = &chance{now: now, results: &sync.Map{}}
	return &applied
}

// functionsFor are the functions of one evaluation of an expression.
func (m *Manifest) functionsFor(expr hcl.Expression, at site) map[string]function.Function {
	plain, c := at.mod.block.functions, m.chance
	if c == nil || len(m.volatileCalls(expr)) == 0 {
		return plain
	}
	call := chanceCall{expr: expr.Range().String(), at: at.String()}
	all := maps.Clone(plain)
	maps.Copy(all, funcs.Chancy(&funcs.Chance{Now: c.now, Random: rand.Reader, Once: func(args string, make func() (string, error)) (string, error) {
		call.n++
		call.args = sha256.Sum256([]byte(args))
		if got, ok := c.results.Load(call); ok {
			return got.(string), nil
		}
		text, err := make()
		if err != nil {
			return "", err
		}
		got, _ := c.results.LoadOrStore(call, text)
		return got.(string), nil
	}}))
	return all
}

// String says which evaluation of an expression a site stands for.
func (s site) String() string {
	text := ""
	if s.mod != nil {
		text = s.mod.address
	}
	if s.res != nil {
		text += " " + s.res.Address
	}
	return text + fmt.Sprint(" ", s.at.key())
}

// volatileCalls are the functions with other results each time that an
// expression calls, sorted, each once.
func (m *Manifest) volatileCalls(expr hcl.Expression) []string { return m.facts(expr).volatile }

// volatileText are those of an expression in JSON syntax, whose templates are
// text. Text that only speaks of a call is taken for one: it cannot stand where
// values must be known early.
func (m *Manifest) volatileText(expr hcl.Expression) []string {
	r := expr.Range()
	src, ok := m.bytesOf(r.Filename)
	if !ok || !r.CanSliceBytes(src) {
		return nil
	}
	return slices.DeleteFunc(funcs.Volatile(), func(name string) bool {
		return !bytes.Contains(r.SliceBytes(src), []byte(name+"("))
	})
}

// lateCall says that an expression calls something whose result is not known
// until the plan is applied, where a value is needed earlier.
func (m *Manifest) lateCall(expr hcl.Expression, p place) *hcl.Diagnostic {
	names := m.volatileCalls(expr)
	if !p.static || len(names) == 0 {
		return nil
	}
	return failure(expr.Range(), "Known too late", "The result of %s() is known only when the plan is applied, and %s must be known before any resource is looked at. plantimestamp() is known: the time of the plan.", names[0], p.what)
}
