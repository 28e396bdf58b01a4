deployster {
  encryption {
    recipients = ["age1nonsense", "AGE-SECRET-KEY-1QQQ"]
  }
}
# error 3:19 no recipient
# error 3:35 a private key
