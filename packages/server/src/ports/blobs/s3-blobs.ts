import {
  CopyObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import type { Readable } from 'node:stream'
import type { S3Config, S3Secrets } from '#config/blob-config.ts'
import { standardCredentials } from '#ports/aws/credentials.ts'
import { assertBlobKey, assertBlobPrefix } from './blob-key.ts'
import type {
  BlobContent,
  BlobPage,
  Blobs,
  BlobStat,
  ByteRange,
  SignedUpload,
  SizedStream,
  UploadTerms,
  WriteOptions,
} from './blobs.ts'
import { BlobError } from './blobs.ts'
import { capAnswers } from './s3/cap-answers.ts'
import { exactLength } from './s3/exact-length.ts'
import { presignPut, type S3Place } from './s3/presign.ts'
import { asBlobError, isMissing, isUnmatched } from './s3/s3-errors.ts'

const pageSize = 1_000
const tries = 3
/** The longest wait for the head of an answer. The store answers a copy of 100 MiB only when it is complete. */
const answerMs = 60_000
/** A write fails if the store accepts its bytes more slowly than this. */
const slowestBytesPerMs = 64
/** Reading pauses while a client does not read, so this is longer than clients may pause: see send-stream.ts. */
const readerSilenceMs = 180_000

/** Without keys, the credentials come from the standard chain. */
export interface S3BlobsOptions extends Omit<S3Config, 'store'>, Partial<S3Secrets> {
  /** The longest silence of the store during an attempt. */
  silenceMs?: number
}

/** Stores blobs in an S3 bucket. URLs have path style, because self-hosted stores have no host name per bucket. */
export class S3Blobs implements Blobs {
  readonly #client: S3Client
  readonly #reader: S3Client
  readonly #bucket: string
  readonly #silenceMs: number

  constructor({ endpoint, region, bucket, accessKeyId, secretAccessKey, silenceMs = 10_000 }: S3BlobsOptions) {
    this.#bucket = bucket
    this.#silenceMs = silenceMs
    const credentials =
      accessKeyId !== undefined && secretAccessKey !== undefined
        ? { accessKeyId, secretAccessKey }
        : // One chain for both clients, so that they share what it finds.
          standardCredentials({ region, withinMs: silenceMs })
    const open = (socketTimeout: number) =>
      new S3Client({
        endpoint,
        region,
        credentials,
        forcePathStyle: true,
        maxAttempts: tries,
        // Many stores do not support the newer checksums, which are on by default.
        requestChecksumCalculation: 'WHEN_REQUIRED',
        responseChecksumValidation: 'WHEN_REQUIRED',
        expectContinueHeader: false,
        // Errors are thrown, so the logger of the SDK is silenced.
        logger: { trace: silent, debug: silent, info: silent, warn: silent, error: silent },
        requestHandler: {
          connectionTimeout: 3_000,
          socketTimeout,
          httpAgent: { maxSockets: 200 },
          httpsAgent: { maxSockets: 200 },
        },
      })
    this.#client = open(silenceMs)
    this.#reader = open(readerSilenceMs)
    capAnswers(this.#client, { errorsOnly: false })
    capAnswers(this.#reader, { errorsOnly: true })
  }

  /** Throws the error of the store if it cannot be used with this configuration. */
  async check(): Promise<void> {
    await this.#client.send(new HeadBucketCommand({ Bucket: this.#bucket }), { abortSignal: AbortSignal.timeout(answerMs) })
  }

  async presignUpload(terms: UploadTerms): Promise<SignedUpload> {
    return presignPut(this.#client, this.#at(terms.key), terms)
  }

  async stat(key: string): Promise<BlobStat | undefined> {
    const command = new HeadObjectCommand(this.#at(key))
    try {
      const head = await this.#ask((options) => this.#client.send(command, options))
      return statOf(head.ContentLength, head.ETag)
    } catch (error) {
      if (isMissing(error)) return undefined
      throw asBlobError(error)
    }
  }

  async read(key: string, range?: ByteRange): Promise<BlobContent> {
    const command = new GetObjectCommand({ ...this.#at(key), ...(range ? { Range: `bytes=${range.start}-${range.end}` } : {}) })
    const got = await this.#ask((options) => this.#reader.send(command, options), tries * this.#silenceMs).catch(throwBlobError)
    const contentBytes = got.ContentLength
    if (contentBytes === undefined) {
      // The blob might never end, and its length must be sent before its bytes.
      ;(got.Body as Readable).destroy()
      throw new BlobError('unavailable', 'the object storage does not say how long the blob is')
    }
    const total = /\/(\d+)$/.exec(got.ContentRange ?? '')?.[1]
    return { ...statOf(total ? Number(total) : contentBytes, got.ETag), stream: got.Body as Readable, contentBytes }
  }

  async write(key: string, body: Buffer | SizedStream, { mime, once }: WriteOptions): Promise<BlobStat> {
    // Without If-None-Match, because some stores refuse a write with it.
    if (once && (await this.stat(key))) throw new BlobError('exists', 'there is a blob already')
    const bytes = Buffer.isBuffer(body) ? body.length : body.bytes
    const abort = new AbortController()
    // The client detects neither a failing source nor one that is longer than announced.
    const source = Buffer.isBuffer(body) ? undefined : exactLength(body, (error) => abort.abort(error))
    const command = new PutObjectCommand({
      ...this.#at(key),
      Body: source ?? (body as Buffer),
      ContentType: mime,
      ContentLength: bytes,
    })
    const late = () => abort.abort(new BlobError('unavailable', 'the object storage takes too long'))
    const timer = setTimeout(late, answerMs + bytes / slowestBytesPerMs)
    const put = await this.#client
      .send(command, { abortSignal: abort.signal })
      .catch((error: unknown) => {
        throw abort.signal.aborted ? abort.signal.reason : asBlobError(error)
      })
      .finally(() => clearTimeout(timer))
    return statOf(bytes, put.ETag)
  }

  async promote(fromKey: string, toKey: string): Promise<BlobStat> {
    const there = await this.stat(toKey)
    const promoted = there ?? ((await this.#copy(fromKey, toKey)) ? await this.stat(toKey) : undefined)
    if (!promoted) throw new BlobError('not_found', 'no such upload')
    return promoted
  }

  /**
   * Copies an object and returns whether it existed. The copy is conditional on the ETag, so a repeated or delayed
   * copy never takes bytes that were uploaded since.
   */
  async #copy(fromKey: string, toKey: string): Promise<boolean> {
    for (let attempt = 1; attempt <= tries; attempt++) {
      const from = await this.stat(fromKey)
      if (!from) return false
      const command = new CopyObjectCommand({
        ...this.#at(toKey),
        CopySource: `${this.#bucket}/${this.#at(fromKey).Key}`,
        CopySourceIfMatch: `"${from.etag}"`,
      })
      try {
        await this.#ask((options) => this.#client.send(command, options))
        return true
      } catch (error) {
        // The object was replaced since its ETag was read.
        if (!isUnmatched(error)) throw asBlobError(error)
      }
    }
    throw new BlobError('unavailable', 'the upload is being replaced')
  }

  async delete(keys: string[]): Promise<void> {
    for (let i = 0; i < keys.length; i += pageSize) {
      let left = keys.slice(i, i + pageSize)
      // An upload that is being written may fail independently.
      for (let attempt = 1; left.length > 0; attempt++) left = await this.#deleteSome(left, attempt === tries)
    }
  }

  /** Deletes keys and returns those that failed. The response is 200 in any case. */
  async #deleteSome(keys: string[], last: boolean): Promise<string[]> {
    const Objects = keys.map((key) => ({ Key: this.#at(key).Key }))
    const command = new DeleteObjectsCommand({ Bucket: this.#bucket, Delete: { Objects, Quiet: true } })
    const { Errors = [] } = await this.#ask((options) => this.#client.send(command, options)).catch(throwBlobError)
    const failed = Errors.filter((error) => error.Code !== 'NoSuchKey')
    if (last && failed[0]) throw new BlobError('unavailable', `${failed.length} objects not deleted`, { cause: failed[0] })
    return failed.flatMap((error) => error.Key ?? [])
  }

  async deletePrefix(prefix: string): Promise<void> {
    assertBlobPrefix(prefix)
    let cursor: string | undefined
    do {
      const page = await this.list(prefix, { cursor })
      await this.delete(page.blobs.map(({ key }) => key))
      cursor = page.cursor
    } while (cursor)
  }

  async list(
    prefix: string,
    { cursor, limit = pageSize }: { cursor?: string | undefined; limit?: number } = {},
  ): Promise<BlobPage> {
    if (prefix) assertBlobPrefix(prefix)
    const command = new ListObjectsV2Command({
      Bucket: this.#bucket,
      Prefix: prefix,
      MaxKeys: limit,
      ...(cursor ? { StartAfter: cursor } : {}),
    })
    const { Contents = [], IsTruncated } = await this.#ask((options) => this.#client.send(command, options)).catch(throwBlobError)
    const blobs = Contents.map(({ Key = '', Size, LastModified }) => ({
      key: Key,
      bytes: Size ?? 0,
      modifiedAt: LastModified ?? new Date(),
    }))
    // Callers delete what is listed, so keys outside the prefix are rejected, and so is a list that makes no progress.
    if (blobs.some(({ key }) => key === '' || !key.startsWith(prefix) || (cursor !== undefined && key <= cursor)))
      throw new BlobError('unavailable', 'the object storage lists what was not asked for')
    const last = blobs.at(-1)
    return { blobs, ...(IsTruncated && last ? { cursor: last.key } : {}) }
  }

  /** There is nothing to remove, because an aborted write leaves no object in the store. */
  async sweep(): Promise<number> {
    return 0
  }

  async disk(): Promise<undefined> {}

  close(): void {
    this.#client.destroy()
    this.#reader.destroy()
  }

  #at(key: string): S3Place {
    assertBlobKey(key)
    return { Bucket: this.#bucket, Key: key }
  }

  /** Awaits the head of a response within the time limit. The body may take longer. */
  async #ask<T>(send: (options: { abortSignal: AbortSignal }) => Promise<T>, withinMs = answerMs): Promise<T> {
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(), withinMs)
    try {
      return await send({ abortSignal: late.signal })
    } finally {
      clearTimeout(timer)
    }
  }
}

function silent(): void {}

function throwBlobError(error: unknown): never {
  throw asBlobError(error)
}

function statOf(bytes: number | undefined, etag: string | undefined): BlobStat {
  return { bytes: bytes ?? 0, etag: (etag ?? '').replaceAll('"', '') }
}
