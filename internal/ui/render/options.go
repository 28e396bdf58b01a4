package render

import "math"

// Options control how much is shown, and where.
type Options struct {
	Compact bool                // one line per resource
	Verbose bool                // each resource by itself, and unchanged ones too
	Width   int                 // cells of the terminal; 0 = no terminal
	Whole   bool                // nothing is left out because of its length: the output does not scroll past a reader
	Hide    func(string) string // hides secrets in a text; nil = there are none
}

// All reports whether long lists are shown in full.
func (o Options) All() bool { return o.Verbose || o.Whole }

// names returns how many addresses of a block are shown.
func (o Options) names() int {
	if o.Whole {
		return math.MaxInt32
	}
	return maxNames
}
