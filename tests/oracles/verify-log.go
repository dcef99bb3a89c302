// Verifies a transparency log with golang.org/x/mod/sumdb, which knows nothing of Atrium. Only the paths of tiles differ:
// Go's checksum database has tile/8/0/000, C2SP tlog-tiles has tile/0/000.
//
//	verify-log -vkey VKEY [-old CHECKPOINT] [-proof PROOF -entry ENTRY] LOG
//
// LOG is a folder or an address, such as http://127.0.0.1:3000/log. It must have the files checkpoint and tile/….
// The program checks the signature of the checkpoint, that the entries have its root, that each tile is the one that Go
// makes, that the tree continues the one of the older checkpoint, and the inclusion proof (C2SP tlog-proof) of an entry.
package main

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

func check(err error, what string) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", what, err)
		os.Exit(1)
	}
}

type source string

func (s source) read(path string) ([]byte, error) {
	if !strings.HasPrefix(string(s), "http") {
		return os.ReadFile(filepath.Join(string(s), path))
	}
	response, err := http.Get(strings.TrimSuffix(string(s), "/") + "/" + path)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != 200 {
		return nil, fmt.Errorf("GET %s: %s", path, response.Status)
	}
	return io.ReadAll(response.Body)
}

// The path of a tile without the height, which C2SP fixes at 8.
func c2spPath(tile tlog.Tile) string {
	path := tile.Path()
	if tile.L == -1 {
		return "tile/entries/" + strings.TrimPrefix(path, "tile/8/data/")
	}
	return "tile/" + strings.TrimPrefix(path, "tile/8/")
}

// Opens a signed checkpoint: the lines origin, size and root.
func open(signed []byte, vkey string) tlog.Tree {
	verifier, err := note.NewVerifier(vkey)
	check(err, "vkey")
	opened, err := note.Open(signed, note.VerifierList(verifier))
	check(err, "checkpoint")
	lines := strings.Split(opened.Text, "\n")
	if len(lines) < 4 || lines[0] != verifier.Name() {
		check(fmt.Errorf("origin %q", lines[0]), "checkpoint")
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	check(err, "size")
	root, err := tlog.ParseHash(lines[2])
	check(err, "root")
	return tlog.Tree{N: size, Hash: root}
}

// The hashes of the whole tree, in the order in which Go's checksum database stores them.
type storedHashes []tlog.Hash

func (h storedHashes) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	var found []tlog.Hash
	for _, i := range indexes {
		found = append(found, h[i])
	}
	return found, nil
}

// Computes the tree from the entries alone.
func hashEntries(log source, size int64) storedHashes {
	var hashes storedHashes
	for at := int64(0); at < size; at += 256 {
		width := size - at
		if width > 256 {
			width = 256
		}
		bundle, err := log.read(c2spPath(tlog.Tile{H: 8, L: -1, N: at / 256, W: int(width)}))
		check(err, "entries")
		for i := at; i < at+width; i++ {
			if len(bundle) < 2 || len(bundle) < 2+int(binary.BigEndian.Uint16(bundle)) {
				check(fmt.Errorf("entry %d ends early", i), "entries")
			}
			end := 2 + int(binary.BigEndian.Uint16(bundle))
			added, err := tlog.StoredHashes(i, bundle[2:end], hashes)
			check(err, "entries")
			hashes = append(hashes, added...)
			bundle = bundle[end:]
		}
		if len(bundle) > 0 {
			check(fmt.Errorf("a bundle is too long"), "entries")
		}
	}
	return hashes
}

// Compares each tile with the one that Go makes. TileHashReader of x/mod 0.7 is no substitute: it leaves some full tiles
// unchecked.
func checkTiles(log source, size int64, hashes storedHashes) {
	for _, tile := range tlog.NewTiles(8, 0, size) {
		// NewTiles lists every narrower form of a partial tile too. A log serves those of its checkpoints.
		if tile.W < 256 && tile.N<<8+int64(tile.W) < size>>(8*tile.L) {
			continue
		}
		want, err := tlog.ReadTileData(tile, hashes)
		check(err, "tiles")
		got, err := log.read(c2spPath(tile))
		check(err, "tiles")
		if !bytes.Equal(got, want) {
			check(fmt.Errorf("%s is wrong", c2spPath(tile)), "tiles")
		}
	}
}

func checkProof(proof string, entry []byte, vkey string) {
	head, signed, found := strings.Cut(proof, "\n\n")
	if !found {
		check(fmt.Errorf("no checkpoint"), "proof")
	}
	lines := strings.Split(head, "\n")
	if lines[0] != "c2sp.org/tlog-proof@v1" || len(lines) < 2 {
		check(fmt.Errorf("begins with %q", lines[0]), "proof")
	}
	index, err := strconv.ParseInt(strings.TrimPrefix(lines[1], "index "), 10, 64)
	check(err, "index")
	var path tlog.RecordProof
	for _, line := range lines[2:] {
		hash, err := tlog.ParseHash(line)
		check(err, "proof")
		path = append(path, hash)
	}
	tree := open([]byte(signed), vkey)
	check(tlog.CheckRecord(path, tree.N, tree.Hash, index, tlog.RecordHash(entry)), "inclusion proof")
	fmt.Printf("entry %d is in the tree of %d leaves\n", index, tree.N)
}

func main() {
	vkey := flag.String("vkey", "", "the log's verifier key")
	old := flag.String("old", "", "a file with an older checkpoint")
	proof := flag.String("proof", "", "a file with an inclusion proof")
	entry := flag.String("entry", "", "a file with the entry that the proof is of")
	flag.Parse()
	log := source(flag.Arg(0))

	signed, err := log.read("checkpoint")
	check(err, "checkpoint")
	tree := open(signed, *vkey)
	hashes := hashEntries(log, tree.N)
	root, err := tlog.TreeHash(tree.N, hashes)
	check(err, "root")
	if root != tree.Hash {
		check(fmt.Errorf("the entries have another root"), "root")
	}
	checkTiles(log, tree.N, hashes)
	fmt.Printf("%d entries are the leaves of %s\n", tree.N, tree.Hash)
	if *old != "" {
		signed, err := os.ReadFile(*old)
		check(err, "old checkpoint")
		before := open(signed, *vkey)
		path, err := tlog.ProveTree(tree.N, before.N, hashes)
		check(err, "consistency proof")
		check(tlog.CheckTree(path, tree.N, tree.Hash, before.N, before.Hash), "consistency")
		fmt.Printf("the tree of %d leaves continues that of %d\n", tree.N, before.N)
	}
	if *proof != "" {
		text, err := os.ReadFile(*proof)
		check(err, "proof")
		content, err := os.ReadFile(*entry)
		check(err, "entry")
		checkProof(string(text), content, *vkey)
	}
}
