package images

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"deployster/internal/base/jsondoc"
	"deployster/internal/runtime/artifact"
)

const (
	maxCheckAnswer = 256 << 20 // bytes
	maxLines       = 2_000_000
	maxKept        = 64 << 20 // bytes of text, of one check
)

// eachLine reads a response file with one JSON object per line. Errors have the number of
// the invalid line. r is nil if there is no file.
func eachLine(r io.Reader, each func(line []byte) error) error {
	if r == nil {
		return nil
	}
	in := bufio.NewReaderSize(r, 64<<10)
	var long []byte
	for n := 1; ; n++ {
		line, err := in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			long = append(long[:0], line...)
			for errors.Is(err, bufio.ErrBufferFull) && len(long) <= maxLine {
				line, err = in.ReadSlice('\n')
				long = append(long, line...)
			}
			line = long
		}
		if len(line) > maxLine {
			return fmt.Errorf("line %d is longer than %d bytes", n, maxLine)
		}
		if n > maxLines {
			return fmt.Errorf("it has more than %d lines", maxLines)
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			if err := each(line); err != nil {
				return fmt.Errorf("line %d: %w", n, err)
			}
		}
		if err != nil {
			return nil
		}
	}
}

// listed collects the versions that a check lists.
type listed struct {
	in     artifact.CheckInput
	out    artifact.Checked
	kept   map[string][]artifact.Versioned // the newest versions by space, until the selected space is known
	strict bool                            // only the first version of a space can show that it continues
	budget int                             // bytes of text that it may still keep
}

// Limits of the number of spaces: of those that a check may list, and of those whose
// versions are kept while the selected space is unknown, or that are reported next to it.
const (
	maxSpaces = 100_000
	toldOf    = 1000
)

func newListed(in artifact.CheckInput) *listed {
	if in.Keep <= 0 {
		in.Keep = artifact.DefaultKeep
	}
	return &listed{in: in, kept: map[string][]artifact.Versioned{}, strict: true, budget: maxKept,
		out: artifact.Checked{Selected: in.Space, Spaces: map[string]artifact.Space{}}}
}

// checkLine reads a line of the answer to check.
func (l *listed) checkLine(line []byte) error {
	o, err := jsondoc.Object(line)
	if err != nil {
		return err
	}
	name, isDefault := o["default_space"]
	if isDefault {
		if l.out.Default != "" {
			return errors.New("the default space was named before")
		}
		if l.out.Default, err = text(`"default_space"`, name); err != nil {
			return err
		}
		if l.out.Default == "" {
			return errors.New(`"default_space" is empty`)
		}
		if l.in.Space == "" {
			l.selectSpace(l.out.Default)
		}
		if o["space"] == nil && o["version"] == nil {
			return nil
		}
	}
	v := artifact.Versioned{}
	if v.Space, err = text(`"space"`, o["space"]); err != nil {
		return err
	}
	if v.Version, err = version(o["version"]); err != nil {
		return err
	}
	if v.Metadata, err = metadata(o["metadata"], false); err != nil {
		return err
	}
	return l.add(v)
}

// selectSpace selects a space, and drops the versions of the others.
func (l *listed) selectSpace(space string) {
	l.out.Selected = space
	for name, list := range l.kept {
		if name != space {
			l.drop(list)
			delete(l.kept, name)
		}
	}
}

// drop returns the room of versions that are not kept any more.
func (l *listed) drop(list []artifact.Versioned) {
	for _, v := range list {
		l.budget += size(v)
	}
}

// size returns the bytes of text of a version, with its metadata.
func size(v artifact.Versioned) int {
	n := len(v.Space)
	for name, value := range v.Version {
		n += len(name) + len(value)
	}
	for _, f := range v.Metadata {
		n += len(f.Name) + len(f.Value)
	}
	return n
}

// add adds a version, in the order of the image.
func (l *listed) add(v artifact.Versioned) error {
	s, known := l.out.Spaces[v.Space]
	if !known && len(l.out.Spaces) >= maxSpaces && v.Space != l.out.Selected {
		return fmt.Errorf("it lists more than %d spaces", maxSpaces)
	}
	from, asked := l.in.From[v.Space]
	s.Count++
	if asked && (!known || !l.strict) && v.Version.Is(from) {
		s.Continues = true
	}
	l.budget += size(s.Last) - size(v)
	s.Last = v
	l.out.Spaces[v.Space] = s
	if selected := l.out.Selected; v.Space == selected || selected == "" && (len(l.kept) < toldOf || l.kept[v.Space] != nil) {
		list := append(l.kept[v.Space], v)
		if len(list) >= 2*l.in.Keep { // so that each version is moved at most once
			l.drop(list[:len(list)-l.in.Keep])
			list = append(list[:0:0], list[len(list)-l.in.Keep:]...)
		}
		l.kept[v.Space], l.budget = list, l.budget-size(v)
	}
	if l.budget < 0 {
		return fmt.Errorf("the last version of each space and the newest %d have more than %d bytes with their metadata, and that is all "+
			"that is kept of a check", l.in.Keep, maxKept)
	}
	if l.in.Each != nil {
		l.in.Each(v)
	}
	return nil
}

// checked returns the result of the check.
func (l *listed) checked() artifact.Checked {
	newest := l.kept[l.out.Selected]
	l.out.Newest = newest[max(len(newest)-l.in.Keep, 0):]
	if len(l.out.Spaces) > toldOf {
		s, ok := l.out.Spaces[l.out.Selected]
		l.out.Spaces = map[string]artifact.Space{}
		if ok {
			l.out.Spaces[l.out.Selected] = s
		}
	}
	return l.out
}

// errNothing reports that the answer to put names no version.
var errNothing = errors.New("put printed no version")

// putLines reads the answer to put. With an error it also returns what was read before.
func putLines(r io.Reader) (out artifact.Put, err error) {
	err = eachLine(r, func(line []byte) error {
		o, err := jsondoc.Object(line)
		if err != nil {
			return err
		}
		kind, err := text(`"type"`, o["type"])
		if err != nil {
			return err
		}
		v := artifact.Versioned{}
		if v.Space, err = text(`"space"`, o["space"]); err != nil {
			return err
		}
		if v.Version, err = version(o["version"]); err != nil {
			return err
		}
		switch kind {
		case "created":
			out.Created = append(out.Created, v)
		case "deleted":
			out.Deleted = append(out.Deleted, v)
		default:
			return fmt.Errorf(`"type" is %q, and must be "created" or "deleted"`, kind)
		}
		return nil
	})
	if err == nil && len(out.Created)+len(out.Deleted) == 0 {
		err = errNothing
	}
	return out, err
}

// spaces lists the spaces that a put touched.
func spaces(p artifact.Put) map[string]bool {
	touched := map[string]bool{}
	for _, list := range [][]artifact.Versioned{p.Created, p.Deleted} {
		for _, v := range list {
			touched[v.Space] = true
		}
	}
	return touched
}
