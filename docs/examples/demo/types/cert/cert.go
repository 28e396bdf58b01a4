package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"time"
)

const root = "/root-dir"

// renewBefore is how long before its end a certificate counts as stale.
const renewBefore = 30 * 24 * time.Hour

// pair is a certificate and its key.
type pair struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func certFile(path string) string { return filepath.Join(root, path+".crt") }
func keyFile(path string) string  { return filepath.Join(root, path+".key") }

// load reads a pair; nil and a reason when there is none that can be used.
func load(path string) (*pair, string) {
	certPEM, err := os.ReadFile(certFile(path))
	if errors.Is(err, os.ErrNotExist) {
		return nil, ""
	}
	keyPEM, keyErr := os.ReadFile(keyFile(path))
	if err = errors.Join(err, keyErr); err != nil {
		return nil, err.Error()
	}
	certBlock, _ := pem.Decode(certPEM)
	keyBlock, _ := pem.Decode(keyPEM)
	if certBlock == nil || keyBlock == nil {
		return nil, "the files are not PEM"
	}
	cert, err := x509.ParseCertificate(certBlock.Bytes)
	if err != nil {
		return nil, err.Error()
	}
	key, err := x509.ParseECPrivateKey(keyBlock.Bytes)
	if err != nil {
		return nil, err.Error()
	}
	if !key.PublicKey.Equal(cert.PublicKey) {
		return nil, "the key does not belong to the certificate"
	}
	return &pair{cert, key}, ""
}

// fits returns why a certificate is not the declared one, or "".
func fits(have *pair, c config) string {
	switch {
	case have.cert.Subject.CommonName != c.CommonName:
		return fmt.Sprintf("it is for %s, wanted is %s", have.cert.Subject.CommonName, c.CommonName)
	case !slices.Equal(have.cert.DNSNames, c.DNSNames):
		return fmt.Sprintf("it is for the names %v, wanted are %v", have.cert.DNSNames, c.DNSNames)
	case time.Until(have.cert.NotAfter) < renewBefore:
		return "it ends at " + have.cert.NotAfter.Format(time.RFC3339)
	}
	signer := have
	if c.CA != "" {
		ca, why := load(c.CA)
		if ca == nil {
			return "its signer " + c.CA + " cannot be used: " + why
		}
		signer = ca
	}
	if err := have.cert.CheckSignatureFrom(signer.cert); err != nil {
		return "it is not signed by " + signer.cert.Subject.CommonName
	}
	return ""
}

func describe(p *pair) map[string]any {
	sum := sha256.Sum256(p.cert.Raw)
	return map[string]any{
		"common_name": p.cert.Subject.CommonName,
		"issuer":      p.cert.Issuer.CommonName,
		"fingerprint": hex.EncodeToString(sum[:]),
		"not_after":   p.cert.NotAfter.Format(time.RFC3339),
	}
}

// issue makes a new key and a certificate for it.
func issue(c config) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return err
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: c.CommonName}, DNSNames: c.DNSNames,
		NotBefore: time.Now().Add(-time.Minute), NotAfter: time.Now().AddDate(1, 0, 0),
		KeyUsage: x509.KeyUsageDigitalSignature, BasicConstraintsValid: true,
	}
	signer := &pair{template, key}
	if c.CA == "" {
		template.IsCA, template.KeyUsage = true, x509.KeyUsageCertSign|x509.KeyUsageCRLSign
	} else {
		ca, why := load(c.CA)
		if ca == nil {
			return fmt.Errorf("the signer %s cannot be used: %s", c.CA, why)
		}
		signer = ca
	}
	der, err := x509.CreateCertificate(rand.Reader, template, signer.cert, &key.PublicKey, signer.key)
	if err != nil {
		return err
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	if err := write(keyFile(c.Path), "EC PRIVATE KEY", keyDER, 0o600); err != nil {
		return err
	}
	return write(certFile(c.Path), "CERTIFICATE", der, 0o644)
}

// write replaces a file as a whole.
func write(name, kind string, der []byte, mode os.FileMode) error {
	var content bytes.Buffer
	if err := pem.Encode(&content, &pem.Block{Type: kind, Bytes: der}); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(name+".new", content.Bytes(), mode); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}

func remove(c config) error {
	return errors.Join(os.Remove(certFile(c.Path)), os.Remove(keyFile(c.Path)))
}
