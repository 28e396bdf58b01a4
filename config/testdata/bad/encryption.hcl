deployster {
  encryption {
    passphrase_file = "a"
    passphrase_env  = "B"
    enabled         = 3
    recipients      = ["age1nonsense", var.x]
    identity_files  = "key"
    passphrase      = "plain"
  }
  encryption {}
}
# error 3:5 two passphrases
# error 5:23 not a bool
# error 6:40 a reference
# error 7:23 not a list
# error 8:5 a passphrase is never written here
# error 10:3 twice
