package eval

import (
	"crypto/rand"
	"crypto/sha256"
	"maps"
	"sync"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty/function"

	"deployster/config/funcs"
	"deployster/config/instance"
)

// impureValues holds the results of timestamp, uuid and bcrypt during apply. Before
// apply their results are unknown, so that a plan never shows a value that apply would
// not use. An apply evaluates an expression several times, for the resource itself and
// for those that refer to it: each call in it returns the same result every time.
type impureValues struct {
	now     time.Time
	results *sync.Map // of impureCall -> string
}

// NewImpure returns the values of impure functions for an apply that began at now.
func NewImpure(now time.Time) *impureValues { return &impureValues{now: now, results: &sync.Map{}} }

// impureCall is one call of a function in one evaluation of an expression.
type impureCall struct {
	expr string // the place of the expression
	at   string // the instance of the resource or module, with each or count
	n    int    // the number of the call in the evaluation
	args [sha256.Size]byte
}

// functionsFor returns the functions for one evaluation of an expression.
func (m *Modules) functionsFor(expr hcl.Expression, at instance.Scope) map[string]function.Function {
	plain, c := at.Mod.Decl.Functions, m.Impure
	if c == nil || len(m.Refs.ImpureCalls(expr)) == 0 {
		return plain
	}
	call := impureCall{expr: expr.Range().String(), at: at.String()}
	all := maps.Clone(plain)
	maps.Copy(all, funcs.Impure(&funcs.Source{Now: c.now, Random: rand.Reader,
		Once: func(args string, make func() (string, error)) (string, error) {
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
