package signature

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"regexp"
	"strconv"
)

// List is public keys, of which some must have signed.
type List struct {
	Name string // "" = the keys before the first named list
	Need int    // how many different ones must have signed
	Keys []ed25519.PublicKey
}

// heading begins a list in a file: its name, and how many of its keys must have signed.
var heading = regexp.MustCompile(`(?m)^[ \t]*\[.*$`)

// headingParts are the name and the number in a heading.
var headingParts = regexp.MustCompile(`^\[([A-Za-z0-9_.-]+)\](?:[ \t]+([0-9]+))?$`)

// ParseLists reads a file of public keys. Those before the first line such as "[ops] 2" are a list
// of which one must have signed; each such line begins a list, and without a number one is enough.
// The errors have the form of ParsePrivate's.
func ParseLists(text []byte) ([]List, error) {
	heads := heading.FindAllIndex(text, -1)
	var lists []List
	before := text
	if len(heads) > 0 {
		before = text[:heads[0][0]]
	}
	if len(heads) == 0 || len(bytes.TrimSpace(before)) > 0 {
		keys, err := ParsePublic(before)
		if err != nil {
			return nil, err
		}
		lists = append(lists, List{Need: 1, Keys: keys})
	}
	for i, head := range heads {
		end := len(text)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		list, err := parseList(string(bytes.TrimSpace(text[head[0]:head[1]])), text[head[1]:end])
		if err != nil {
			return nil, err
		}
		for _, other := range lists {
			if other.Name == list.Name {
				return nil, fmt.Errorf("it has two lists [%s]", list.Name)
			}
		}
		lists = append(lists, list)
	}
	return lists, nil
}

// parseList reads a heading, and the keys below it.
func parseList(head string, below []byte) (List, error) {
	parts := headingParts.FindStringSubmatch(head)
	if parts == nil {
		return List{}, fmt.Errorf("the line %q does not begin a list: write its name and how many of its keys must have signed, "+
			"such as [ops] 2", head)
	}
	list := List{Name: parts[1], Need: 1}
	var err error
	if parts[2] != "" {
		if list.Need, err = strconv.Atoi(parts[2]); err != nil || list.Need < 1 {
			return list, fmt.Errorf("[%s] requires %s signatures: write 1 or more", list.Name, parts[2])
		}
	}
	if len(bytes.TrimSpace(below)) == 0 {
		err = errors.New("no key is below it")
	} else {
		list.Keys, err = ParsePublic(below)
	}
	if err != nil {
		return list, fmt.Errorf("[%s]: %w", list.Name, err)
	}
	different := map[KeyID]bool{}
	for _, key := range list.Keys {
		different[ID(key)] = true
	}
	if list.Need > len(different) {
		return list, fmt.Errorf("[%s] requires %d signatures and has %d different keys, so that no plan can meet it",
			list.Name, list.Need, len(different))
	}
	return list, nil
}
