package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"net/smtp"
	"strings"
	"time"
)

type mailConfig struct {
	Server   string   `json:"server" doc:"the mail server, HOST:PORT" minLength:"1"`
	From     string   `json:"from" doc:"the sender" minLength:"1"`
	To       []string `json:"to" doc:"the recipients" minItems:"1"`
	Username string   `json:"username,omitempty" doc:"the user of the login; absent = no login"`
	Password string   `json:"password,omitempty" writeOnly:"true"`
	TLS      string   `json:"tls" doc:"starttls; tls from the first byte; or none" default:"starttls" enum:"starttls,tls,none"`
	CA       string   `json:"ca,omitempty" doc:"the PEM text of the authority of the server's certificate"`
}

// sendMail sends the summary as a mail, whose subject is its first line.
func sendMail(ctx context.Context, in message) error {
	var c mailConfig
	if err := json.Unmarshal(in.Config, &c); err != nil {
		return err
	}
	host, _, err := net.SplitHostPort(c.Server)
	if err != nil {
		return fmt.Errorf("config.server is HOST:PORT, such as mail.example.com:587: %w", err)
	}
	from, err := mail.ParseAddress(c.From)
	if err != nil {
		return fmt.Errorf("config.from: %w", err)
	}
	var to []*mail.Address
	for _, text := range c.To {
		one, err := mail.ParseAddress(text)
		if err != nil {
			return fmt.Errorf("config.to: %w", err)
		}
		to = append(to, one)
	}
	client, err := connect(ctx, c, host)
	if err != nil {
		return err
	}
	defer client.Close()
	if c.Username != "" {
		if err := client.Auth(smtp.PlainAuth("", c.Username, c.Password, host)); err != nil {
			return fmt.Errorf("the login at %s failed: %w", c.Server, err)
		}
	}
	if err := client.Mail(from.Address); err != nil {
		return err
	}
	for _, one := range to {
		if err := client.Rcpt(one.Address); err != nil {
			return fmt.Errorf("%s refuses the recipient %s: %w", c.Server, one.Address, err)
		}
	}
	w, err := client.Data()
	if err != nil {
		return err
	}
	if _, err := w.Write(written(from, to, in.Summary, time.Now())); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	_ = client.Quit() // the server has taken the mail
	return nil
}

// connect connects to a mail server, with TLS unless the config has tls = none.
func connect(ctx context.Context, c mailConfig, host string) (*smtp.Client, error) {
	pool, err := trusted(c.CA)
	if err != nil {
		return nil, err
	}
	settings := &tls.Config{ServerName: host, RootCAs: pool, MinVersion: tls.VersionTLS12}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", c.Server)
	if err != nil {
		return nil, err
	}
	if until, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(until) // a connection that is open takes it
	}
	way := cmp.Or(c.TLS, "starttls")
	if way == "tls" {
		conn = tls.Client(conn, settings)
	}
	client, err := smtp.NewClient(conn, host)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	if way == "starttls" {
		if err := client.StartTLS(settings); err != nil {
			return nil, errors.Join(fmt.Errorf("%s offers no TLS: %w. config.tls = \"none\" sends without TLS", c.Server, err),
				client.Close())
		}
	}
	return client, nil
}

// written returns a mail.
func written(from *mail.Address, to []*mail.Address, text string, now time.Time) []byte {
	var names []string
	for _, one := range to {
		names = append(names, one.String())
	}
	subject, _, _ := strings.Cut(text, "\n")
	_, domain, _ := strings.Cut(from.Address, "@")
	var b bytes.Buffer
	for _, line := range []string{"From: " + from.String(), "To: " + strings.Join(names, ", "),
		"Subject: " + mime.QEncoding.Encode("utf-8", subject), "Date: " + now.Format(time.RFC1123Z),
		"Message-ID: <" + rand.Text() + "@" + domain + ">", "Auto-Submitted: auto-generated", "MIME-Version: 1.0",
		"Content-Type: text/plain; charset=utf-8", "Content-Transfer-Encoding: quoted-printable", ""} {
		b.WriteString(line + "\r\n")
	}
	w := quotedprintable.NewWriter(&b)
	_, _ = w.Write([]byte(text + "\n")) // a buffer takes everything
	_ = w.Close()
	return b.Bytes()
}
