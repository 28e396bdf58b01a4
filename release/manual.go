package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/cpuguy83/go-md2man/v2/md2man"
)

const languageHead = `deployster-language 7 "%s" deployster "Deployster"
==================================================

# NAME

deployster-language - the language of manifests

# DESCRIPTION
%s`

// languagePage makes a man page of the page about the language. No date is a zero one.
func languagePage(from, to string, date time.Time) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	_, body, _ := strings.Cut(string(text), "\n") // after the title
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	day := ""
	if !date.IsZero() {
		day = date.Format(time.DateOnly)
	}
	page := fmt.Sprintf(languageHead, day, forManual(body))
	return os.WriteFile(to, md2man.Render([]byte(page)), 0o644)
}

var (
	pageLink = regexp.MustCompile(`\[([^\]]*)\]\(([^)\s]*)\)`)
	tableBar = regexp.MustCompile(`^\|[-|]+\|$`)
)

// forManual returns a page without what a terminal cannot show: links to other pages keep their
// text, and tables, whose columns would be wider than it, become lists.
func forManual(page string) string {
	var lines, header []string
	code, all := false, strings.Split(page, "\n")
	for i, line := range all {
		if strings.HasPrefix(line, "```") {
			code = !code
		}
		if code {
			lines = append(lines, line)
			continue
		}
		line = pageLink.ReplaceAllStringFunc(line, func(link string) string {
			m := pageLink.FindStringSubmatch(link)
			if strings.Contains(m[2], "://") {
				return link
			}
			return m[1]
		})
		switch {
		case !strings.HasPrefix(line, "|"):
			header = nil
			lines = append(lines, line)
		case header == nil && i+1 < len(all) && tableBar.MatchString(all[i+1]):
			header = cells(line)
		case !tableBar.MatchString(line):
			lines = append(lines, listItem(header, cells(line)))
		}
	}
	return strings.Join(lines, "\n")
}

// cells returns the cells of a row. A bar within one is written \|.
func cells(row string) (found []string) {
	const bar = "\x00"
	row = strings.ReplaceAll(strings.Trim(row, "|"), `\|`, bar)
	for cell := range strings.SplitSeq(row, "|") {
		found = append(found, strings.ReplaceAll(strings.TrimSpace(cell), bar, "|"))
	}
	return found
}

// listItem returns a row of a table as an item of a list. Of three columns, the later ones are named.
func listItem(header, row []string) string {
	if len(row) == 2 {
		return "- " + row[0] + ": " + row[1]
	}
	text := "- " + row[0]
	for i, cell := range row[1:] {
		text += []string{": ", "; "}[min(i, 1)] + header[i+1] + " " + cell
	}
	return text
}
