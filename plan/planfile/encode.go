package planfile

import (
	"bytes"
	"io"
	"maps"
	"slices"

	"deployster/internal/base/jsondoc"
	"deployster/internal/base/parallel"
	"deployster/plan"
)

// batch is how many resources are encoded before they are written: more would take
// more memory, and be no faster.
const batch = 1000

// encode returns plan.json. It is compact, so that the JSON values in it are read
// back byte for byte.
func encode(p *plan.Plan) ([]byte, error) {
	var out bytes.Buffer
	err := encodeTo(&out, p)
	return out.Bytes(), err
}

// encodeTo writes plan.json as encoding/json would, with the resources encoded
// on all processors and never all in memory.
func encodeTo(w io.Writer, p *plan.Plan) error {
	stored := NewDocument(p)
	frame := *stored
	frame.Resources = map[string]*DocumentStep{}
	around, err := jsondoc.Encode(&frame)
	if err != nil {
		return err
	}
	split := len(around) - len("}}") // the resources come last
	if _, err := w.Write(around[:split]); err != nil {
		return err
	}
	addresses := slices.Sorted(maps.Keys(p.Resources))
	for from := 0; from < len(addresses); from += batch {
		if err := encodeSteps(w, stored, addresses[from:min(from+batch, len(addresses))], from == 0); err != nil {
			return err
		}
	}
	_, err = w.Write(append(around[split:], '\n'))
	return err
}

// encodeSteps writes members of the object of resources, with a comma before each
// but the first of all.
func encodeSteps(w io.Writer, p *Document, addresses []string, first bool) error {
	members, err := parallel.TryMap(addresses, func(addr string) ([]byte, error) {
		step, err := jsondoc.Encode(p.Resources[addr])
		member := make([]byte, 0, len(step)+len(addr)+len(`"":`))
		return append(append(jsondoc.AppendText(member, addr), ':'), step...), err
	})
	if err != nil {
		return err
	}
	if !first {
		members[0] = append([]byte(","), members[0]...)
	}
	_, err = w.Write(bytes.Join(members, []byte(",")))
	return err
}
