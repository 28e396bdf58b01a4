package cases

import "time"

// Result is how a case ended.
type Result struct {
	File     string
	Name     string
	Line     int
	Failures []string // what did not hold, each a text that begins with its place; none = it passed
	Took     time.Duration
}

// Report is how all cases ended, in the order of their files.
type Report struct {
	Results []Result
	Unknown []string // the types of which no schemas are kept, sorted
	Took    time.Duration
}

// FileReport is how the cases of one file ended.
type FileReport struct {
	Name    string
	Results []Result
}

// Failed returns how many cases failed.
func (r Report) Failed() int { return failed(r.Results) }

// Failed returns how many cases failed.
func (f FileReport) Failed() int { return failed(f.Results) }

func failed(list []Result) (n int) {
	for _, one := range list {
		if len(one.Failures) > 0 {
			n++
		}
	}
	return n
}

// Took returns how long the cases took.
func (f FileReport) Took() (d time.Duration) {
	for _, one := range f.Results {
		d += one.Took
	}
	return d
}

// Files returns the results by file, in their order.
func (r Report) Files() (list []FileReport) {
	for _, one := range r.Results {
		if len(list) == 0 || list[len(list)-1].Name != one.File {
			list = append(list, FileReport{Name: one.File})
		}
		last := &list[len(list)-1]
		last.Results = append(last.Results, one)
	}
	return list
}
