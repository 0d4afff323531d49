from atr_servers.cli.app import main

main()
